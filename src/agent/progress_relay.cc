// SPDX-License-Identifier: Apache-2.0
#include "agent/progress_relay.h"

#include <utility>

namespace pintle::agent {

ProgressRelay::ProgressRelay(event::Loop& loop, const Clock& clock,
                             std::function<void(const std::string& doing)> publish)
    : loop_(loop), clock_(clock), publish_(std::move(publish)), due_(loop, [this] { PublishIfDue(); }) {}

change::Progress ProgressRelay::Sender() {
  return [this, &loop = loop_, weak = std::weak_ptr(alive_)](const host::ActivityProgress& progress) {
    loop.Post([this, weak, progress] {
      if (!weak.expired()) Take(progress);
    });
  };
}

void ProgressRelay::Forget() {
  pace_.Forget();
  due_.Cancel();
}

void ProgressRelay::Take(const host::ActivityProgress& progress) {
  if (const auto doing = pace_.Take(progress, clock_.Monotonic())) return publish_(*doing);
  if (!due_.armed()) due_.At(*pace_.next_time());
}

void ProgressRelay::PublishIfDue() {
  if (const auto doing = pace_.TakeIfDue(clock_.Monotonic())) return publish_(*doing);
  if (pace_.next_time()) due_.At(*pace_.next_time());
}

}  // namespace pintle::agent
