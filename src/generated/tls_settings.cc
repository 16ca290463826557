// SPDX-License-Identifier: Apache-2.0
#include "generated/tls_settings.h"

#include <cstddef>
#include <iterator>
#include <string_view>

#include "json/fields.h"

namespace pintle::generated {
namespace {

struct Cipher {
  std::string_view openssl;  // OpenSSL's name.
  std::string_view iana;     // IANA's name.
};

// The known ciphers.  The profile Modern has the first three, Intermediate has the first nine, and Old has all but the
// last.
constexpr Cipher kCiphers[] = {
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"},
    {"TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"},
    {"TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"},
    {"ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
    {"ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
    {"ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
    {"ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
    {"ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
    {"ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
    {"ECDHE-ECDSA-AES128-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256"},
    {"ECDHE-RSA-AES128-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256"},
    {"ECDHE-ECDSA-AES128-SHA", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"},
    {"ECDHE-RSA-AES128-SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"},
    {"ECDHE-ECDSA-AES256-SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"},
    {"ECDHE-RSA-AES256-SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"},
    {"AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256"},
    {"AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384"},
    {"AES128-SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA256"},
    {"AES128-SHA", "TLS_RSA_WITH_AES_128_CBC_SHA"},
    {"AES256-SHA", "TLS_RSA_WITH_AES_256_CBC_SHA"},
    {"DES-CBC3-SHA", "TLS_RSA_WITH_3DES_EDE_CBC_SHA"},
    {"ECDHE-RSA-DES-CBC3-SHA", "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA"},
};
constexpr std::size_t kModernCount = 3;
constexpr std::size_t kIntermediateCount = 9;
constexpr std::size_t kOldCount = std::size(kCiphers) - 1;

// Returns settings with the first `count` ciphers.
TlsSettings FirstCiphers(std::size_t count, std::string_view min_version) {
  TlsSettings settings{.min_version = std::string(min_version), .cipher_suites = {}};
  for (std::size_t i = 0; i < count; ++i) settings.cipher_suites.emplace_back(kCiphers[i].iana);
  return settings;
}

TlsSettings CustomSettings(const api::CustomTlsProfile& profile) {
  TlsSettings settings{.min_version = profile.min_tls_version, .cipher_suites = {}};
  for (const std::string& name : profile.ciphers) {
    for (const Cipher& cipher : kCiphers) {
      if (cipher.openssl == name) settings.cipher_suites.emplace_back(cipher.iana);
    }
  }
  return settings;
}

}  // namespace

TlsSettings TlsSettingsOf(const std::optional<api::TlsSecurityProfile>& profile) {
  if (profile && profile->type == "Old") return FirstCiphers(kOldCount, "VersionTLS10");
  if (profile && profile->type == "Modern") return FirstCiphers(kModernCount, "VersionTLS13");
  if (profile && profile->type == "Custom" && profile->custom) return CustomSettings(*profile->custom);
  return FirstCiphers(kIntermediateCount, "VersionTLS12");
}

TlsSettings TlsSettingsOf(const json::Value* api_server) {
  json::Report report;
  const json::Value* spec = api_server == nullptr ? nullptr : api_server->Find("spec");
  // A profile that cannot be decoded is treated like a missing one, as in the other parts of the cluster.
  const auto settings = json::Decode<api::ApiServerSpec>(spec == nullptr ? json::Value::object() : *spec, report);
  return TlsSettingsOf(report.has_errors() ? std::nullopt : settings.tls_security_profile);
}

}  // namespace pintle::generated
