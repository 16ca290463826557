// SPDX-License-Identifier: Apache-2.0
#pragma once

// Edits /etc/containers/registries.conf, which lists the places from which a node pulls images.

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
  std::string pull_from_mirror;  // "digest-only", "tag-only", or empty for all images.
};

struct Registry {
  std::string prefix;  // Empty if the location is the prefix.
  RegistryEndpoint endpoint;
  bool blocked = false;
  bool mirror_by_digest_only = false;
  std::vector<RegistryEndpoint> mirrors;

  // Returns the scope of the images to which the entry applies.
  const std::string& scope() const { return prefix.empty() ? endpoint.location : prefix; }
};

struct RegistriesConf {
  // A list that is absent is not written.  An empty list is written.
  std::optional<std::vector<std::string>> unqualified_search_registries;
  std::optional<std::vector<std::string>> credential_helpers;
  std::string short_name_mode;
  std::string additional_layer_store_auth_helper;
  std::vector<Registry> registries;
  std::map<std::string, std::string> aliases;
};

Result<RegistriesConf> ReadRegistriesConf(std::string_view text);
std::string Write(const RegistriesConf& conf);

// The scopes to mark as insecure and as blocked.
struct RegistryScopes {
  std::span<const std::string> insecure;
  std::span<const std::string> blocked;
};

// Adds the mirrors, and marks the scopes as insecure or blocked.  Entries inside a marked scope are also marked, and so
// are mirrors inside an insecure scope.  An entry inside a mirrored source gets the mirrors of this source if it has
// none of its own.  The entries have the order of the Machine Config Operator.  If the entries would get more mirrors
// than a MachineConfig can hold, the error is kUnconvertible.
Result<> Edit(RegistriesConf& conf, const RegistryScopes& scopes, const MirrorObjects& mirrors);

// Returns an error if container tools would refuse to use the configuration.  The error has the words of the tools.
Result<> CheckAcceptedByTools(const RegistriesConf& conf);

// Returns the entry that container tools use for an image, a repository or a registry, or nullptr if there is none.
const Registry* FindRegistry(const RegistriesConf& conf, std::string_view name);

// A place from which container tools try to pull an image.
struct PullSource {
  const RegistryEndpoint* endpoint;  // A mirror of the entry, or the entry's own endpoint.
  std::string repository;
};

// Returns the places from which container tools pull an image by this entry, in the order in which they are tried.
// Leaves out mirrors that are not used for this image, because they are only for images that are named by digest, or
// only for images that are named by tag.
Result<std::vector<PullSource>> PullSources(const Registry& entry, std::string_view image);

}  // namespace pintle::generated
