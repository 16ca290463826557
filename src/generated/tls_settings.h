// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a kubelet offers of TLS, by the profile that someone has chosen.

#include <optional>
#include <string>
#include <vector>

#include "api/tls_security_profile.h"
#include "json/value.h"

namespace pintle::generated {

struct TlsSettings {
  std::string min_version;                 // "VersionTLS12"
  std::vector<std::string> cipher_suites;  // By the names of IANA.
};

// A cipher that no Go program has is left out without a word.
TlsSettings TlsSettingsOf(const std::optional<api::TlsSecurityProfile>& profile);

// Those of the cluster, by the document of its APIServer, where it has one.
TlsSettings TlsSettingsOf(const json::Value* api_server);

}  // namespace pintle::generated
