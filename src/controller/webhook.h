// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends notices to a URL, as CloudEvents 1.0 in JSON that are signed with a shared key.
//
// The file with the key is read for each attempt, so that the key can be replaced at any time.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "controller/notice_queue.h"
#include "controller/notices.h"
#include "event/loop.h"
#include "net/http_client.h"
#include "net/url.h"

namespace pintle::controller {

struct WebhookSettings {
  net::Url url;
  std::string key_file;
  std::string authorities_file = {};  // Empty for the system's authorities.
  std::string source = {};            // The attribute `source` of all events.
};

class Webhook {
 public:
  // The loop must outlive this object.
  Webhook(event::Loop& loop, WebhookSettings settings);
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  // Sends a notice, and calls `done` with the outcome.  There is one attempt at a time: an earlier attempt is
  // cancelled.
  void Send(const Notice& notice, std::function<void(NoticeQueue::Outcome outcome)> done);
  void Cancel();

 private:
  Result<net::HttpRequest> RequestFor(const Notice& notice) const;
  Result<> OpenClient();

  event::Loop& loop_;
  const WebhookSettings settings_;
  std::optional<net::HttpClient> client_;  // Exists once something was sent.
  net::HttpCall call_;
};

// Returns the event as the body of a request.
std::string CloudEventOf(const Notice& notice, const std::string& source);

// Returns the value of the header X-Pintle-Signature: "sha256=" and the HMAC-SHA-256 of the body in hexadecimal.
std::string SignatureOf(std::string_view key, std::string_view body);

// Judges the HTTP status of an answer.  `server` is the host and the port of the receiver, for messages.
NoticeQueue::Outcome JudgeAnswer(int status, const std::string& server);

}  // namespace pintle::controller
