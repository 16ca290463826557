// SPDX-License-Identifier: Apache-2.0
#include "net/certificates.h"

#include "support/expect.h"
#include "unit/net/made_certificate.h"

namespace pintle::net {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST(ReadCertificates, ReturnsEachCertificateOfABundleInItsOrder) {
  const std::string bundle = "# the old one\n" + MadeCertificate("signer@1", "20261205120000Z") + "\nand\n" +
                             MadeCertificate("für, alle", "20270101000000Z");
  const auto read = ValueOf(ReadCertificates(bundle));
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].subject, "CN=signer@1,OU=openshift");
  EXPECT_EQ(read[0].common_name, "signer@1");
  EXPECT_EQ(ToRfc3339(read[0].not_after), "2026-12-05T12:00:00Z");
  EXPECT_EQ(read[1].common_name, "für, alle");
  EXPECT_EQ(read[1].subject, "CN=für\\, alle,OU=openshift");
  EXPECT_EQ(ToRfc3339(read[1].not_after), "2027-01-01T00:00:00Z");
}

TEST(ReadCertificates, FindsNoneInOtherText) {
  EXPECT_THAT(ValueOf(ReadCertificates("")), IsEmpty());
  EXPECT_THAT(ValueOf(ReadCertificates("no certificates here\n")), IsEmpty());
}

TEST(ReadCertificates, NamesTheCertificateThatCannotBeRead) {
  const std::string good = MadeCertificate("signer", "20270101000000Z");
  EXPECT_THAT(MessageOf(ReadCertificates(good + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")),
              StartsWith("certificate 2: "));
  EXPECT_THAT(MessageOf(ReadCertificates("-----BEGIN CERTIFICATE-----\n\xff\xff\n-----END CERTIFICATE-----\n")),
              StartsWith("certificate 1: "));
  EXPECT_THAT(MessageOf(ReadCertificates(good.substr(0, good.size() / 2))), StartsWith("certificate 1: "));
  EXPECT_THAT(ValueOf(ReadCertificates(good)), SizeIs(1)) << "what failed before is forgotten";
}

TEST(ReadableCertificates, AreTheCertificatesBeforeTheFirstProblem) {
  const std::string good = MadeCertificate("signer", "20270101000000Z");
  EXPECT_THAT(ReadableCertificates(good + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + good),
              SizeIs(1));
  EXPECT_THAT(ReadableCertificates(good + good), SizeIs(2));
  EXPECT_THAT(ReadableCertificates("no certificates here\n"), IsEmpty());
}

TEST(ReadCertificates, TreatsACertificateThatExpiredLongAgoAsExpired) {
  for (const char* end : {"16010101000000Z", "00000101000000Z", "16770921001243Z", "19691231235959Z"}) {
    const auto read = ValueOf(ReadCertificates(MadeCertificate("old", end)));
    EXPECT_EQ(ToRfc3339(read.at(0).not_after), "1970-01-01T00:00:00Z") << end;
  }
}

// OpenSSL would prompt for the passphrase on the terminal, or on stderr, and read it from stdin.
TEST(ReadCertificates, RefusesAnEncryptedCertificateWithoutAskingForItsPassphrase) {
  testing::internal::CaptureStderr();
  const std::string problem = MessageOf(ReadCertificates(kEncryptedCertificate));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(problem, "certificate 1: bad password read");
}

TEST(ReadCertificates, TreatsACertificateWithoutAnExpiryAsValidForVeryLong) {
  const auto read = ValueOf(ReadCertificates(MadeCertificate("forever", "99991231235959Z")));
  EXPECT_GT(read.at(0).not_after, ValueOf(FromRfc3339("2260-01-01T00:00:00Z")));
}

}  // namespace
}  // namespace pintle::net
