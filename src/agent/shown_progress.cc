// SPDX-License-Identifier: Apache-2.0
#include "agent/shown_progress.h"

#include <utility>

namespace pintle::agent {

ShownProgress::ShownProgress(event::Loop& loop, const Clock& clock, std::function<void(const std::string& doing)> show)
    : loop_(loop), clock_(clock), show_(std::move(show)), due_(loop, [this] { ShowIfDue(); }) {}

change::Progress ShownProgress::Teller() {
  return [this, &loop = loop_, weak = std::weak_ptr(alive_)](const host::ActivityProgress& how_far) {
    loop.Post([this, weak, how_far] {
      if (!weak.expired()) Take(how_far);
    });
  };
}

void ShownProgress::Forget() {
  pace_.Forget();
  due_.Cancel();
}

void ShownProgress::Take(const host::ActivityProgress& how_far) {
  if (const auto doing = pace_.Take(how_far, clock_.Monotonic())) return show_(*doing);
  if (!due_.armed()) due_.At(*pace_.due());
}

void ShownProgress::ShowIfDue() {
  if (const auto doing = pace_.Due(clock_.Monotonic())) return show_(*doing);
  if (pace_.due()) due_.At(*pace_.due());
}

}  // namespace pintle::agent
