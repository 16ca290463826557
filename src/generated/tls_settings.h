// SPDX-License-Identifier: Apache-2.0
#pragma once

// The TLS version and the ciphers of a profile, with the names that kubelets use.

#include <optional>
#include <string>
#include <vector>

#include "api/tls_security_profile.h"
#include "json/value.h"

namespace pintle::generated {

struct TlsSettings {
  std::string min_version;                 // "VersionTLS12"
  std::vector<std::string> cipher_suites;  // IANA's names of the ciphers.
};

// Returns the settings of a profile.  Ciphers that Go programs do not know are left out.
TlsSettings TlsSettingsOf(const std::optional<api::TlsSecurityProfile>& profile);

// Returns the settings of the cluster from its APIServer object; `api_server` may be nullptr.
TlsSettings TlsSettingsOf(const json::Value* api_server);

}  // namespace pintle::generated
