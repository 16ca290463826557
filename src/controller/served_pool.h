// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the Ignition server has for each pool, at one moment.
//
// It does not change: when a pool gets another config, the server is given another set, in which the pools that are as
// they were can be the same objects.  Each version of a config is made when the first machine asks for it, and then
// kept as the bytes that all others get.

#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "controller/served_config.h"
#include "event/lazy.h"
#include "ignition/spec_version.h"

namespace pintle::controller {

inline constexpr std::size_t kServedVersions = static_cast<std::size_t>(ignition::SpecVersion::k3_5) + 1;

class ServedPool {
 public:
  using Text = Result<std::shared_ptr<const std::string>>;

  // With an error: why there is nothing to serve to this pool.
  explicit ServedPool(Result<ServedSources> sources);

  const Text& For(ignition::SpecVersion version) const { return texts_[static_cast<std::size_t>(version)].Get(); }

 private:
  using Sources = std::shared_ptr<const Result<ServedSources>>;

  ServedPool(const Sources& sources);
  static event::Lazy<Text> LazyText(const Sources& sources, ignition::SpecVersion version);

  const std::array<event::Lazy<Text>, kServedVersions> texts_;
};

using ServedPools = std::map<std::string, std::shared_ptr<const ServedPool>, std::less<>>;

}  // namespace pintle::controller
