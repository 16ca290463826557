// SPDX-License-Identifier: Apache-2.0
#include "net/tls_identity.h"

#include <string>
#include <vector>

#include "support/expect.h"
#include "unit/net/made_certificate.h"
#include "unit/net/servers.h"

namespace pintle::net {
namespace {

class TlsIdentityTest : public testing::Test {
 protected:
  Result<std::shared_ptr<const TlsIdentity>> Create(const std::string& certificate, const std::string& key,
                                                    const TlsRules& rules = {}) {
    return TlsIdentity::Create(certificate, key, rules);
  }

  const std::string certificate_ = Certificates::Get().Text("server.crt");
  const std::string key_ = Certificates::Get().Text("server.key");
};

TEST_F(TlsIdentityTest, AcceptsACertificateAndItsKey) {
  EXPECT_TRUE(Succeeded(Create(certificate_, key_)));
  EXPECT_TRUE(Succeeded(Create(certificate_ + Certificates::Get().Text("ca.crt"), key_)));
}

TEST_F(TlsIdentityTest, ReportsInvalidOrMismatchedFiles) {
  EXPECT_EQ(MessageOf(Create("", key_)), "the certificate: cannot read a PEM certificate: no start line");
  EXPECT_EQ(MessageOf(Create(certificate_, "")),
            "the key: cannot read a private key, which must be PEM without a passphrase: unsupported");
  EXPECT_EQ(MessageOf(Create(certificate_, Certificates::Get().Text("elsewhere.key"))),
            "the key: it does not belong to the certificate: key values mismatch");
  const std::string with_invalid_chain =
      certificate_ + "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(MessageOf(Create(with_invalid_chain, key_)),
              testing::StartsWith("the certificate: its chain cannot be read: "));
}

// OpenSSL would prompt for the passphrase on the terminal, or on stderr, and read it from stdin.
TEST_F(TlsIdentityTest, RefusesAnEncryptedCertificateWithoutAskingForItsPassphrase) {
  testing::internal::CaptureStderr();
  const std::string problem = MessageOf(Create(kEncryptedCertificate, key_));
  const std::string chain_problem = MessageOf(Create(certificate_ + kEncryptedCertificate, key_));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(problem, testing::HasSubstr("password"));
  EXPECT_THAT(chain_problem, testing::HasSubstr("password"));
}

TEST_F(TlsIdentityTest, AcceptsCiphersByEitherName) {
  EXPECT_TRUE(Succeeded(Create(certificate_, key_, {.ciphers = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}})));
  EXPECT_TRUE(Succeeded(Create(certificate_, key_, {.ciphers = {"ECDHE-ECDSA-AES128-GCM-SHA256"}})));
  EXPECT_TRUE(
      Succeeded(Create(certificate_, key_, {.ciphers = {"TLS_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"}})));
  EXPECT_EQ(MessageOf(Create(certificate_, key_, {.ciphers = {"TLS_ROT13"}})),
            "OpenSSL does not support the cipher TLS_ROT13; remove it or correct its name");
  EXPECT_EQ(MessageOf(Create(certificate_, key_, {.ciphers = {"TLS_AES_128_GCM_SHA256"}})),
            "the list of ciphers has no cipher for TLS 1.2; add one");
}

TEST_F(TlsIdentityTest, NeedsNoCipherOfTls12WhenTls13IsTheOldestVersion) {
  const std::vector<std::string> modern = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                           "TLS_CHACHA20_POLY1305_SHA256"};
  EXPECT_TRUE(Succeeded(Create(certificate_, key_, {.oldest = TlsVersion::k1_3, .ciphers = modern})));
  EXPECT_EQ(MessageOf(Create(certificate_, key_, {.oldest = TlsVersion::k1_3, .ciphers = {"TLS_ROT13"}})),
            "OpenSSL does not support the cipher TLS_ROT13; remove it or correct its name");
}

TEST_F(TlsIdentityTest, LeavesOutUnknownCiphersIfTheRulesAllowThat) {
  const std::vector<std::string> ciphers = {"TLS_ROT13", "ECDHE-ECDSA-AES128-GCM-SHA256"};
  EXPECT_TRUE(Succeeded(Create(certificate_, key_, {.ciphers = ciphers, .unknown_ciphers = UnknownCiphers::kLeftOut})));
  EXPECT_EQ(MessageOf(Create(certificate_, key_, {.ciphers = ciphers})),
            "OpenSSL does not support the cipher TLS_ROT13; remove it or correct its name");
  EXPECT_EQ(
      MessageOf(Create(certificate_, key_, {.ciphers = {"TLS_ROT13"}, .unknown_ciphers = UnknownCiphers::kLeftOut})),
      "the list of ciphers has no cipher for TLS 1.2; add one");
}

TEST(TlsVersion, IsNamedAsInKubernetes) {
  EXPECT_EQ(ValueOf(ParseTlsVersion("VersionTLS12")), TlsVersion::k1_2);
  EXPECT_EQ(ValueOf(ParseTlsVersion("VersionTLS13")), TlsVersion::k1_3);
  EXPECT_EQ(MessageOf(ParseTlsVersion("VersionTLS11")),
            "\"VersionTLS11\" is not a supported version of TLS: it must be VersionTLS12 or VersionTLS13");
}

}  // namespace
}  // namespace pintle::net
