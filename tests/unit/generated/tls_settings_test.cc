// SPDX-License-Identifier: Apache-2.0
#include "generated/tls_settings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/parse.h"

namespace pintle::generated {
namespace {

struct TlsCase {
  const char* what;
  std::optional<api::TlsSecurityProfile> profile;
  const char* min_version;
  std::size_t cipher_count;
};

api::TlsSecurityProfile NamedProfile(const char* type) { return {.type = type, .custom = {}}; }

TEST(TlsSettingsOf, KnowsTheProfilesByName) {
  const TlsCase cases[] = {
      {"none", {}, "VersionTLS12", 9},
      {"old", NamedProfile("Old"), "VersionTLS10", 21},
      {"intermediate", NamedProfile("Intermediate"), "VersionTLS12", 9},
      {"modern", NamedProfile("Modern"), "VersionTLS13", 3},
      {"no name", NamedProfile(""), "VersionTLS12", 9},
      {"a name that nobody knows", NamedProfile("Newest"), "VersionTLS12", 9},
      {"custom without settings", NamedProfile("Custom"), "VersionTLS12", 9},
  };
  for (const TlsCase& c : cases) {
    const TlsSettings settings = TlsSettingsOf(c.profile);
    EXPECT_EQ(settings.min_version, c.min_version) << c.what;
    EXPECT_EQ(settings.cipher_suites.size(), c.cipher_count) << c.what;
  }
}

TEST(TlsSettingsOf, TranslatesCiphersAndLeavesOutUnknownOnes) {
  api::TlsSecurityProfile profile = NamedProfile("Custom");
  profile.custom = {.ciphers = {"AES128-SHA", "BOGUS", "TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA"},
                    .min_tls_version = "VersionTLS11"};
  const TlsSettings settings = TlsSettingsOf(profile);
  EXPECT_EQ(settings.min_version, "VersionTLS11");
  EXPECT_EQ(settings.cipher_suites,
            (std::vector<std::string>{"TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_AES_128_GCM_SHA256"}));
  // None of the named profiles has this cipher, but a custom profile may have it.
  profile.custom->ciphers = {"ECDHE-RSA-DES-CBC3-SHA"};
  EXPECT_EQ(TlsSettingsOf(profile).cipher_suites, (std::vector<std::string>{"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA"}));
  profile.custom->ciphers.clear();
  EXPECT_TRUE(TlsSettingsOf(profile).cipher_suites.empty());
}

TEST(TlsSettingsOf, FollowsTheApiServerOfTheCluster) {
  const json::Value document = *json::Parse(R"({"spec":{"tlsSecurityProfile":{"type":"Modern"}}})");
  EXPECT_EQ(TlsSettingsOf(&document).min_version, "VersionTLS13");
  const json::Value custom = *json::Parse(R"({"spec":{"tlsSecurityProfile":{"type":"Custom","custom":{
      "minTLSVersion":"VersionTLS11","ciphers":["AES128-SHA"]}}}})");
  EXPECT_EQ(TlsSettingsOf(&custom).min_version, "VersionTLS11");
  EXPECT_EQ(TlsSettingsOf(&custom).cipher_suites, std::vector<std::string>{"TLS_RSA_WITH_AES_128_CBC_SHA"});
  const json::Value wrong = *json::Parse(R"({"spec":{"tlsSecurityProfile":5}})");
  EXPECT_EQ(TlsSettingsOf(&wrong).min_version, "VersionTLS12");
  const json::Value* none = nullptr;
  EXPECT_EQ(TlsSettingsOf(none).min_version, "VersionTLS12");
}

}  // namespace
}  // namespace pintle::generated
