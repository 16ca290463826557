// SPDX-License-Identifier: Apache-2.0
#include "serving/tls_profile.h"

namespace pintle::serving {

net::TlsRules TlsRulesOf(const std::optional<api::TlsSecurityProfile>& profile) {
  net::TlsRules rules;
  if (!profile) return rules;
  const bool is_custom = profile->type == "Custom" && profile->custom;
  const bool is_modern = profile->type == "Modern" || (is_custom && profile->custom->min_tls_version == "VersionTLS13");
  // The profile Old would allow older versions and weaker ciphers than we support; Intermediate is our own default.
  if (is_modern) rules.oldest = net::TlsVersion::k1_3;
  if (is_custom && !is_modern) rules.ciphers = profile->custom->ciphers;
  // A profile is for all programs of the cluster, and each of them uses the ciphers that it knows.
  rules.unknown_ciphers = net::UnknownCiphers::kLeftOut;
  return rules;
}

}  // namespace pintle::serving
