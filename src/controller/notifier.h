// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends each new notice of the leader to the webhook.

#include <functional>
#include <vector>

#include "base/clock.h"
#include "controller/notice_queue.h"
#include "controller/notices.h"
#include "controller/webhook.h"
#include "event/loop.h"

namespace pintle::controller {

class Notifier {
 public:
  // The loop and the clock must outlive this object.
  Notifier(event::Loop& loop, const Clock& clock, WebhookSettings settings, NoticeQueue::Listener listener);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Sends those of the present notices that were not present before.
  void Look(std::vector<Notice> present);
  // Forgets all notices: another replica leads, and sends the notices that have not arrived yet.
  void Stop();

  const NoticeCounts& counts() const { return queue_.counts(); }

 private:
  const Clock& clock_;
  Webhook webhook_;
  NoticeQueue queue_;
  KnownNotices known_;
};

}  // namespace pintle::controller
