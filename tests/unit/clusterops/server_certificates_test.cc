// SPDX-License-Identifier: Apache-2.0
#include "clusterops/server_certificates.h"

#include <gmock/gmock.h>

#include <chrono>
#include <optional>
#include <vector>

#include "base/base64.h"
#include "net/certificates.h"
#include "support/expect.h"

namespace pintle::clusterops {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const WallTime kBegin = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
constexpr auto kDay = std::chrono::hours(24);

api::Secret SecretOf(const net::CertifiedKey& made) {
  api::Secret secret;
  secret.data = {{kCertificateKey, EncodeBase64(made.certificate)}, {kPrivateKeyKey, EncodeBase64(made.key)}};
  return secret;
}

net::CertifiedKey KeyIn(const api::Secret& secret) {
  return {.certificate = DecodeBase64(secret.data.at(kCertificateKey)).value_or(""),
          .key = DecodeBase64(secret.data.at(kPrivateKeyKey)).value_or("")};
}

// A cluster whose certificates are renewed as the steps demand.
struct RenewingCluster {
  std::optional<api::Secret> authority = {};
  std::optional<api::ConfigMap> bundle = {};
  std::optional<api::Secret> certificate = {};
  std::string trusted = {};
  std::optional<api::ConfigMap> root = {};
  std::vector<std::string> hosts = {"api-int.demo.test"};
  WallTime now = kBegin;

  ServerCertificateInputs Inputs() const {
    return {.authority = authority ? &*authority : nullptr,
            .bundle = bundle ? &*bundle : nullptr,
            .certificate = certificate ? &*certificate : nullptr,
            .trusted = trusted,
            .root = root ? &*root : nullptr,
            .hosts = hosts,
            .now = now};
  }

  CertificateStep Step() {
    const CertificateStep step = NextCertificateStep(Inputs());
    if (step == CertificateStep::kAuthority) authority = SecretOf(ValueOf(NewServerAuthority(now)));
    if (step == CertificateStep::kBundle) bundle.emplace().data["ca-bundle.crt"] = ValueOf(NewServerBundle(Inputs()));
    if (step == CertificateStep::kCertificate) {
      certificate = SecretOf(ValueOf(NewServerCertificate(KeyIn(*authority), hosts, now)));
    }
    return step;
  }

  std::vector<CertificateStep> Steps() {
    std::vector<CertificateStep> steps;
    for (CertificateStep step; (step = Step()) != CertificateStep::kNone && steps.size() < 9;) steps.push_back(step);
    return steps;
  }

  std::vector<net::Certificate> CertificatesInBundle() const {
    return ValueOf(net::ReadCertificates(bundle->data.at("ca-bundle.crt")));
  }
  net::Certificate Served() const {
    return ValueOf(net::ReadCertificates(DecodeBase64(certificate->data.at(kCertificateKey)).value_or(""))).at(0);
  }
};

TEST(ServerCertificates, AreMadeOneAfterTheOther) {
  RenewingCluster cluster;
  EXPECT_THAT(cluster.Steps(),
              ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle, CertificateStep::kCertificate));
  EXPECT_EQ(cluster.Served().issuer, cluster.CertificatesInBundle().at(0).subject);
  EXPECT_THAT(ValueOf(net::HostsOf(*DecodeBase64(cluster.certificate->data.at(kCertificateKey)))),
              ElementsAre("api-int.demo.test"));
}

TEST(ServerCertificates, ANewAuthorityIsTrustedForADayBeforeItSigns) {
  RenewingCluster cluster;
  cluster.Steps();
  const std::string first = cluster.Served().issuer;
  cluster.now += std::chrono::years(8);
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle));
  EXPECT_EQ(cluster.CertificatesInBundle().size(), 2U);
  EXPECT_EQ(cluster.Served().issuer, first);
  cluster.now += kDay + std::chrono::minutes(1);
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kCertificate));
  EXPECT_NE(cluster.Served().issuer, first);
  // An authority that has expired is no longer trusted when the bundle is written the next time.
  cluster.now += std::chrono::years(8);
  cluster.Steps();
  EXPECT_EQ(cluster.CertificatesInBundle().size(), 2U);
}

TEST(ServerCertificates, AreMadeAgainIfTheClockWasAhead) {
  RenewingCluster cluster;
  cluster.now += std::chrono::years(20);
  cluster.Steps();
  cluster.now = kBegin;
  EXPECT_THAT(cluster.Steps(),
              ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle, CertificateStep::kCertificate));
  EXPECT_LE(cluster.Served().not_before, cluster.now);
}

TEST(ServerCertificates, AnAuthorityThatBecomesValidWithinADayIsNotMadeAgain) {
  RenewingCluster cluster;
  cluster.Steps();
  cluster.now -= std::chrono::hours(12);
  EXPECT_THAT(cluster.Steps(), IsEmpty());
  cluster.now -= std::chrono::hours(24);
  EXPECT_EQ(cluster.Step(), CertificateStep::kAuthority);
}

TEST(ServerCertificates, IfTheClockIsAheadTheAuthorityOfTheCertificateInUseStaysTrusted) {
  RenewingCluster cluster;
  cluster.Steps();
  cluster.now += std::chrono::years(20);
  EXPECT_EQ(cluster.Step(), CertificateStep::kAuthority);
  EXPECT_EQ(cluster.Step(), CertificateStep::kBundle);
  ASSERT_EQ(cluster.CertificatesInBundle().size(), 2U);
  EXPECT_EQ(cluster.CertificatesInBundle()[0].subject, cluster.Served().issuer);
}

TEST(CertificateExpiry, IsTheEndOfTheCertificateInASecret) {
  RenewingCluster cluster;
  cluster.Steps();
  EXPECT_EQ(CertificateExpiry(&*cluster.certificate), cluster.Served().not_after);
  cluster.certificate->data[kCertificateKey] = EncodeBase64("not a certificate");
  EXPECT_EQ(CertificateExpiry(&*cluster.certificate), std::nullopt);
  EXPECT_EQ(CertificateExpiry(nullptr), std::nullopt);
}

TEST(ServerCertificates, NothingIsMadeWhileAllIsGood) {
  RenewingCluster cluster;
  cluster.Steps();
  cluster.now += std::chrono::years(7);
  EXPECT_THAT(cluster.Steps(), IsEmpty());
}

TEST(ServerCertificates, AnotherHostNeedsAnotherCertificate) {
  RenewingCluster cluster;
  cluster.Steps();
  cluster.now += 2 * kDay;
  cluster.hosts = {"192.0.2.7", "api-int.demo.test"};
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kCertificate));
}

TEST(ServerCertificates, AnotherSpellingOfAnAddressIsNotAnotherHost) {
  RenewingCluster cluster;
  cluster.hosts = {"FD00:0:0::0007", "api-int.demo.test"};
  EXPECT_THAT(cluster.Steps(),
              ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle, CertificateStep::kCertificate));
  cluster.now += 2 * kDay;
  EXPECT_THAT(cluster.Steps(), IsEmpty());
}

TEST(ServerCertificates, AnInstallersCertificateStaysUntilItHasToBeRenewed) {
  RenewingCluster cluster;
  const net::Validity ten_years = {kBegin, kBegin + std::chrono::years(10)};
  const net::CertifiedKey root = ValueOf(net::MakeAuthority("root-ca", ten_years));
  cluster.root.emplace().data["ca.crt"] = root.certificate;
  cluster.certificate = SecretOf(ValueOf(net::MakeServerCertificate(root, "s", cluster.hosts, ten_years)));
  cluster.now += kDay;
  EXPECT_THAT(cluster.Steps(), IsEmpty());
  cluster.now += std::chrono::years(8);
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle));
  // Machines trust the installer's authority as long as the server has its certificate.
  EXPECT_EQ(cluster.CertificatesInBundle().at(0).subject, "CN=root-ca");
  EXPECT_EQ(cluster.Served().issuer, "CN=root-ca");
  cluster.now += 2 * kDay;
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kCertificate));
}

TEST(ServerCertificates, ACertificateThatCannotBeReadIsMadeAgain) {
  RenewingCluster cluster;
  cluster.Steps();
  cluster.authority->data[kCertificateKey] = EncodeBase64("none");
  cluster.certificate->data.clear();
  EXPECT_THAT(cluster.Steps(),
              ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle, CertificateStep::kCertificate));
}

TEST(ServerCertificates, AKeyThatIsLeftOutCountsAsPresent) {
  RenewingCluster cluster;
  cluster.Steps();
  cluster.authority->data[kPrivateKeyKey] = kKeyLeftOut;
  cluster.certificate->data[kPrivateKeyKey] = kKeyLeftOut;
  EXPECT_THAT(cluster.Steps(), IsEmpty());
}

TEST(ServerCertificates, ALostBundleIsMadeFromTheAuthoritiesThatMachinesTrust) {
  RenewingCluster cluster;
  cluster.Steps();
  cluster.now += std::chrono::years(8);
  cluster.Steps();
  const std::string bundle = cluster.bundle->data.at("ca-bundle.crt");
  cluster.trusted = bundle;
  for (const std::string& lost : {std::string(), std::string("garbage")}) {
    cluster.bundle->data["ca-bundle.crt"] = lost;
    EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kBundle));
    EXPECT_EQ(cluster.bundle->data.at("ca-bundle.crt"), bundle);
  }
}

// Many tools print a certificate in words before its PEM block.
TEST(ServerCertificates, AnAuthorityWithTextBeforeItsCertificateIsAddedToTheBundleOnce) {
  RenewingCluster cluster;
  net::CertifiedKey authority = ValueOf(NewServerAuthority(kBegin));
  authority.certificate = "Certificate:\n    Data:\n" + authority.certificate;
  cluster.authority = SecretOf(authority);
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kBundle, CertificateStep::kCertificate));
  EXPECT_EQ(cluster.CertificatesInBundle().size(), 1U);
}

TEST(ServerCertificates, WithoutAHostNothingIsMade) {
  RenewingCluster cluster;
  cluster.hosts.clear();
  EXPECT_THAT(cluster.Steps(), IsEmpty());
}

}  // namespace
}  // namespace pintle::clusterops
