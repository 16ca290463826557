// SPDX-License-Identifier: Apache-2.0
#pragma once

// The TLS versions and ciphers that servers of the cluster offer: a profile by its name, or a custom list.

#include <optional>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct CustomTlsProfile {
  std::vector<std::string> ciphers;  // OpenSSL's names of the ciphers.
  std::string min_tls_version;       // Such as "VersionTLS12".

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"ciphers", &CustomTlsProfile::ciphers},
      json::Field{"minTLSVersion", &CustomTlsProfile::min_tls_version},
  };
};

struct TlsSecurityProfile {
  std::string type;  // "Old", "Intermediate", "Modern" or "Custom"; any other type means Intermediate.
  std::optional<CustomTlsProfile> custom;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"type", &TlsSecurityProfile::type},
      json::Field{"custom", &TlsSecurityProfile::custom},
  };
};

struct ApiServerSpec {
  std::optional<TlsSecurityProfile> tls_security_profile;

  static constexpr bool kLenient = true;
  static constexpr auto kFields =
      json::FieldList{json::Field{"tlsSecurityProfile", &ApiServerSpec::tls_security_profile}};
};

// The settings of the cluster's API server.  Its TLS profile applies to kubelets as well.
struct ApiServer {
  static constexpr std::string_view kKind = "APIServer";

  ObjectMeta metadata;
  ApiServerSpec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ApiServer::metadata},
      json::Field{"spec", &ApiServer::spec},
  };
};

}  // namespace pintle::api
