// SPDX-License-Identifier: Apache-2.0
#include "controller/notifier.h"

#include <utility>

namespace pintle::controller {

Notifier::Notifier(event::Loop& loop, const Clock& clock, WebhookSettings settings, NoticeQueue::Listener listener)
    : clock_(clock),
      webhook_(loop, std::move(settings)),
      queue_(
          loop, {}, kube::SystemRandom(),
          [this](const Notice& notice, std::function<void(NoticeQueue::Outcome)> done) {
            webhook_.Send(notice, std::move(done));
          },
          std::move(listener)) {}

void Notifier::Look(std::vector<Notice> present) {
  for (Notice& notice : NewNotices(known_, std::move(present), clock_.Monotonic())) {
    if (!notice.at) notice.at = clock_.Wall();
    queue_.Add(std::move(notice));
  }
}

void Notifier::Stop() {
  queue_.Clear();
  webhook_.Cancel();
  known_.clear();
}

}  // namespace pintle::controller
