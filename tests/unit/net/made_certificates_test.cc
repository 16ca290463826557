// SPDX-License-Identifier: Apache-2.0
#include "net/made_certificates.h"

#include <gmock/gmock.h>

#include <chrono>

#include "net/certificates.h"
#include "support/expect.h"
#include "unit/net/made_certificate.h"

namespace pintle::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const WallTime kBegin = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
const Validity kTenYears = {kBegin, std::chrono::sys_days(std::chrono::year(2036) / 1 / 1)};

TEST(MakeAuthority, IsSignedByItselfAndValidForItsTime) {
  const CertifiedKey made = ValueOf(MakeAuthority("signer@1", kTenYears));
  const auto read = ValueOf(ReadCertificates(made.certificate));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].subject, "CN=signer@1");
  EXPECT_EQ(read[0].issuer, "CN=signer@1");
  EXPECT_EQ(read[0].not_before, kTenYears.begin);
  EXPECT_EQ(read[0].not_after, kTenYears.end);
  EXPECT_THAT(made.key, HasSubstr("PRIVATE KEY"));
}

TEST(MakeServerCertificate, NamesItsHosts) {
  const CertifiedKey authority = ValueOf(MakeAuthority("signer@1", kTenYears));
  const CertifiedKey made = ValueOf(
      MakeServerCertificate(authority, "a server", {"api-int.demo.test", "192.0.2.7", "2001:db8::7"}, kTenYears));
  const auto read = ValueOf(ReadCertificates(made.certificate));
  EXPECT_EQ(read.at(0).subject, "CN=a server");
  EXPECT_EQ(read.at(0).issuer, "CN=signer@1");
  EXPECT_THAT(ValueOf(HostsOf(made.certificate)), ElementsAre("192.0.2.7", "2001:db8::7", "api-int.demo.test"));
}

// OpenSSL would prompt for the passphrase on the terminal, or on stderr, and read it from stdin.
TEST(HostsOf, RefusesAnEncryptedCertificateWithoutAskingForItsPassphrase) {
  testing::internal::CaptureStderr();
  const std::string problem = MessageOf(HostsOf(kEncryptedCertificate));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(problem, HasSubstr("password"));
}

TEST(MakeServerCertificate, EachHasAKeyOfItsOwn) {
  const CertifiedKey authority = ValueOf(MakeAuthority("signer@1", kTenYears));
  const CertifiedKey first = ValueOf(MakeServerCertificate(authority, "a", {"a.test"}, kTenYears));
  const CertifiedKey second = ValueOf(MakeServerCertificate(authority, "a", {"a.test"}, kTenYears));
  EXPECT_NE(first.key, second.key);
  EXPECT_NE(first.certificate, second.certificate);
}

TEST(MakeServerCertificate, RefusesAnUnusableAuthorityAndAnEmptyListOfHosts) {
  const CertifiedKey authority = ValueOf(MakeAuthority("signer@1", kTenYears));
  EXPECT_THAT(MessageOf(MakeServerCertificate(authority, "a", {}, kTenYears)), HasSubstr("needs a host"));
  EXPECT_THAT(MessageOf(MakeServerCertificate({"none", authority.key}, "a", {"a.test"}, kTenYears)),
              HasSubstr("the authority"));
  EXPECT_THAT(MessageOf(MakeServerCertificate({authority.certificate, "none"}, "a", {"a.test"}, kTenYears)),
              HasSubstr("the authority"));
}

TEST(CanonicalHost, IsOneTextForEachAddress) {
  EXPECT_EQ(CanonicalHost("FD00:0:0::0007"), "fd00::7");
  EXPECT_EQ(CanonicalHost("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(CanonicalHost("api-int.demo.test"), "api-int.demo.test");
}

TEST(HostsOf, ReturnsNoneOfAnAuthority) {
  const CertifiedKey authority = ValueOf(MakeAuthority("signer@1", kTenYears));
  EXPECT_THAT(ValueOf(HostsOf(authority.certificate)), ElementsAre());
}

}  // namespace
}  // namespace pintle::net
