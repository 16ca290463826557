// SPDX-License-Identifier: Apache-2.0
#include "serving/served_pool.h"

#include <utility>

namespace pintle::serving {
namespace {

using ignition::SpecVersion;

constexpr std::size_t kCacheSize = 64 << 20;  // In bytes.

event::TextCache::Entry EntryFor(const std::shared_ptr<const Result<ServedSources>>& sources, SpecVersion version,
                                 const std::shared_ptr<event::TextCache>& cache) {
  return event::TextCache::Entry(cache, [sources, version]() -> Result<std::string> {
    if (!*sources) return sources->error();
    return ServedText(**sources, version);
  });
}

}  // namespace

std::shared_ptr<event::TextCache> MakeServedTextCache() { return std::make_shared<event::TextCache>(kCacheSize); }

KnownPool::KnownPool(Result<ServedSources> sources, const std::shared_ptr<event::TextCache>& cache)
    : KnownPool(std::make_shared<const Result<ServedSources>>(std::move(sources)), cache) {}

KnownPool::KnownPool(const Sources& sources, const std::shared_ptr<event::TextCache>& cache)
    : state_(*sources ? State::kServed : State::kFailing), texts_{EntryFor(sources, SpecVersion::k2_2, cache),
                                                                  EntryFor(sources, SpecVersion::k3_0, cache),
                                                                  EntryFor(sources, SpecVersion::k3_1, cache),
                                                                  EntryFor(sources, SpecVersion::k3_2, cache),
                                                                  EntryFor(sources, SpecVersion::k3_3, cache),
                                                                  EntryFor(sources, SpecVersion::k3_4, cache),
                                                                  EntryFor(sources, SpecVersion::k3_5, cache)} {}

}  // namespace pintle::serving
