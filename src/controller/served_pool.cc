// SPDX-License-Identifier: Apache-2.0
#include "controller/served_pool.h"

#include <utility>

namespace pintle::controller {

using ignition::SpecVersion;

ServedPool::ServedPool(Result<ServedSources> sources)
    : ServedPool(std::make_shared<const Result<ServedSources>>(std::move(sources))) {}

ServedPool::ServedPool(const Sources& sources)
    : texts_{LazyText(sources, SpecVersion::k2_2), LazyText(sources, SpecVersion::k3_0),
             LazyText(sources, SpecVersion::k3_1), LazyText(sources, SpecVersion::k3_2),
             LazyText(sources, SpecVersion::k3_3), LazyText(sources, SpecVersion::k3_4),
             LazyText(sources, SpecVersion::k3_5)} {}

event::Lazy<ServedPool::Text> ServedPool::LazyText(const Sources& sources, SpecVersion version) {
  return event::Lazy<Text>([sources, version]() -> Text {
    if (!*sources) return sources->error();
    return std::make_shared<const std::string>(TRY(ServedText(**sources, version)));
  });
}

}  // namespace pintle::controller
