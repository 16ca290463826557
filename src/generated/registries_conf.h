// SPDX-License-Identifier: Apache-2.0
#pragma once

// /etc/containers/registries.conf: where images are pulled from on a node.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "generated/mirrors.h"

namespace pintle::generated {

struct RegistryEndpoint {
  std::string location;
  bool insecure = false;
  std::string pull_from_mirror;  // "digest-only", "tag-only" or, empty, any image.
};

struct Registry {
  std::string prefix;  // Empty: the location.
  RegistryEndpoint endpoint;
  bool blocked = false;
  bool mirror_by_digest_only = false;
  std::vector<RegistryEndpoint> mirrors;

  // What images it is for.
  const std::string& scope() const { return prefix.empty() ? endpoint.location : prefix; }
};

struct RegistriesConf {
  // Lists that are absent are not written, empty ones are.
  std::optional<std::vector<std::string>> unqualified_search_registries;
  std::optional<std::vector<std::string>> credential_helpers;
  std::string short_name_mode;
  std::string additional_layer_store_auth_helper;
  std::vector<Registry> registries;
  std::map<std::string, std::string> aliases;
};

Result<RegistriesConf> ReadRegistriesConf(std::string_view text);
std::string Write(const RegistriesConf& conf);

// What is said of single registries beside their mirrors.
struct RegistryScopes {
  std::span<const std::string> insecure;
  std::span<const std::string> blocked;
};

// Adds mirrors and marks scopes; what is inside of a scope is marked with it, and is had from the mirrors of what is
// around it.  The order of the entries is that of the Machine Config Operator.
Result<> Edit(RegistriesConf& conf, const RegistryScopes& scopes, const MirrorObjects& mirrors);

}  // namespace pintle::generated
