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

// A cluster whose certificates are renewed as the steps demand.
struct Renewed {
  std::optional<api::Secret> authority = {};
  std::optional<api::ConfigMap> bundle = {};
  std::optional<api::Secret> certificate = {};
  std::optional<api::ConfigMap> root = {};
  std::vector<std::string> hosts = {"api-int.demo.test"};
  WallTime now = kBegin;

  ServerCertificateInputs Inputs() const {
    return {.authority = authority ? &*authority : nullptr,
            .bundle = bundle ? &*bundle : nullptr,
            .certificate = certificate ? &*certificate : nullptr,
            .root = root ? &*root : nullptr,
            .hosts = hosts,
            .now = now};
  }

  CertificateStep Step() {
    const CertificateStep step = NextCertificateStep(Inputs());
    if (step == CertificateStep::kAuthority) authority = SecretOf(ValueOf(NewServerAuthority(now)));
    if (step == CertificateStep::kBundle) bundle.emplace().data["ca-bundle.crt"] = ValueOf(NewServerBundle(Inputs()));
    if (step == CertificateStep::kCertificate) certificate = SecretOf(ValueOf(NewServerCertificate(Inputs())));
    return step;
  }

  std::vector<CertificateStep> Steps() {
    std::vector<CertificateStep> steps;
    for (CertificateStep step; (step = Step()) != CertificateStep::kNone && steps.size() < 9;) steps.push_back(step);
    return steps;
  }

  std::vector<net::Certificate> Trusted() const {
    return ValueOf(net::ReadCertificates(bundle->data.at("ca-bundle.crt")));
  }
  net::Certificate Served() const {
    return ValueOf(net::ReadCertificates(DecodeBase64(certificate->data.at(kCertificateKey)).value_or(""))).at(0);
  }
};

TEST(ServerCertificates, AreMadeOneAfterTheOther) {
  Renewed cluster;
  EXPECT_THAT(cluster.Steps(),
              ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle, CertificateStep::kCertificate));
  EXPECT_EQ(cluster.Served().issuer, cluster.Trusted().at(0).subject);
  EXPECT_THAT(ValueOf(net::HostsOf(*DecodeBase64(cluster.certificate->data.at(kCertificateKey)))),
              ElementsAre("api-int.demo.test"));
}

TEST(ServerCertificates, ANewAuthorityIsTrustedForADayBeforeItSigns) {
  Renewed cluster;
  cluster.Steps();
  const std::string first = cluster.Served().issuer;
  cluster.now += std::chrono::years(8);
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle));
  EXPECT_EQ(cluster.Trusted().size(), 2U);
  EXPECT_EQ(cluster.Served().issuer, first);
  cluster.now += kDay + std::chrono::minutes(1);
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kCertificate));
  EXPECT_NE(cluster.Served().issuer, first);
  // An authority that has expired is no longer trusted when the bundle is written the next time.
  cluster.now += std::chrono::years(8);
  cluster.Steps();
  EXPECT_EQ(cluster.Trusted().size(), 2U);
}

TEST(CertificateExpiry, IsTheEndOfTheCertificateInASecret) {
  Renewed cluster;
  cluster.Steps();
  EXPECT_EQ(CertificateExpiry(&*cluster.certificate), cluster.Served().not_after);
  cluster.certificate->data[kCertificateKey] = EncodeBase64("not a certificate");
  EXPECT_EQ(CertificateExpiry(&*cluster.certificate), std::nullopt);
  EXPECT_EQ(CertificateExpiry(nullptr), std::nullopt);
}

TEST(ServerCertificates, NothingIsMadeWhileAllIsGood) {
  Renewed cluster;
  cluster.Steps();
  cluster.now += std::chrono::years(7);
  EXPECT_THAT(cluster.Steps(), IsEmpty());
}

TEST(ServerCertificates, AnotherHostNeedsAnotherCertificate) {
  Renewed cluster;
  cluster.Steps();
  cluster.now += 2 * kDay;
  cluster.hosts = {"192.0.2.7", "api-int.demo.test"};
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kCertificate));
}

TEST(ServerCertificates, AnInstallersCertificateStaysUntilItHasToBeRenewed) {
  Renewed cluster;
  const net::Validity ten_years = {kBegin, kBegin + std::chrono::years(10)};
  const net::CertifiedKey root = ValueOf(net::MakeAuthority("root-ca", ten_years));
  cluster.root.emplace().data["ca.crt"] = root.certificate;
  cluster.certificate = SecretOf(ValueOf(net::MakeServerCertificate(root, "s", cluster.hosts, ten_years)));
  cluster.now += kDay;
  EXPECT_THAT(cluster.Steps(), IsEmpty());
  cluster.now += std::chrono::years(8);
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle));
  // Machines trust the installer's authority as long as the server has its certificate.
  EXPECT_EQ(cluster.Trusted().at(0).subject, "CN=root-ca");
  EXPECT_EQ(cluster.Served().issuer, "CN=root-ca");
  cluster.now += 2 * kDay;
  EXPECT_THAT(cluster.Steps(), ElementsAre(CertificateStep::kCertificate));
}

TEST(ServerCertificates, WhatCannotBeReadIsMadeAgain) {
  Renewed cluster;
  cluster.Steps();
  cluster.authority->data[kCertificateKey] = EncodeBase64("none");
  cluster.certificate->data.clear();
  EXPECT_THAT(cluster.Steps(),
              ElementsAre(CertificateStep::kAuthority, CertificateStep::kBundle, CertificateStep::kCertificate));
}

TEST(ServerCertificates, WithoutAHostNothingIsMade) {
  Renewed cluster;
  cluster.hosts.clear();
  EXPECT_THAT(cluster.Steps(), IsEmpty());
}

}  // namespace
}  // namespace pintle::clusterops
