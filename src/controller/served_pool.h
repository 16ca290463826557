// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the Ignition server has for each pool, at one moment.
//
// It does not change: when a pool gets another config, the server is given another set, in which the pools that are as
// they were can be the same objects.  Each version of a config is made when a machine asks for it, and its bytes are
// then kept for others as long as all that is kept fits a room, which the pools share: whoever asks for every version
// of every pool does not make the server grow.

#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "controller/served_config.h"
#include "event/text_room.h"
#include "ignition/spec_version.h"

namespace pintle::controller {

inline constexpr std::size_t kServedVersions = static_cast<std::size_t>(ignition::SpecVersion::k3_5) + 1;

// A room for all pools, with a quarter of the memory that deploy/ gives the controller.
std::shared_ptr<event::TextRoom> RoomForServedTexts();

class ServedPool {
 public:
  using Text = event::TextRoom::Text;

  // With an error: why there is nothing to serve to this pool.
  ServedPool(Result<ServedSources> sources, const std::shared_ptr<event::TextRoom>& room);

  // Null: there is no room for it at this moment.
  Result<Text> For(ignition::SpecVersion version) const { return texts_[static_cast<std::size_t>(version)].Get(); }

 private:
  using Sources = std::shared_ptr<const Result<ServedSources>>;

  ServedPool(const Sources& sources, const std::shared_ptr<event::TextRoom>& room);

  const std::array<event::TextRoom::Place, kServedVersions> texts_;
};

using ServedPools = std::map<std::string, std::shared_ptr<const ServedPool>, std::less<>>;

}  // namespace pintle::controller
