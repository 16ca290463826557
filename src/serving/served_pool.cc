// SPDX-License-Identifier: Apache-2.0
#include "serving/served_pool.h"

#include <utility>

namespace pintle::serving {
namespace {

using ignition::SpecVersion;

constexpr std::size_t kRoom = 64 << 20;

event::TextRoom::Place PlaceFor(const std::shared_ptr<const Result<ServedSources>>& sources, SpecVersion version,
                                const std::shared_ptr<event::TextRoom>& room) {
  return event::TextRoom::Place(room, [sources, version]() -> Result<std::string> {
    if (!*sources) return sources->error();
    return ServedText(**sources, version);
  });
}

}  // namespace

std::shared_ptr<event::TextRoom> RoomForServedTexts() { return std::make_shared<event::TextRoom>(kRoom); }

KnownPool::KnownPool(Result<ServedSources> sources, const std::shared_ptr<event::TextRoom>& room)
    : KnownPool(std::make_shared<const Result<ServedSources>>(std::move(sources)), room) {}

KnownPool::KnownPool(const Sources& sources, const std::shared_ptr<event::TextRoom>& room)
    : texts_{PlaceFor(sources, SpecVersion::k2_2, room), PlaceFor(sources, SpecVersion::k3_0, room),
             PlaceFor(sources, SpecVersion::k3_1, room), PlaceFor(sources, SpecVersion::k3_2, room),
             PlaceFor(sources, SpecVersion::k3_3, room), PlaceFor(sources, SpecVersion::k3_4, room),
             PlaceFor(sources, SpecVersion::k3_5, room)} {}

}  // namespace pintle::serving
