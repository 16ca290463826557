// SPDX-License-Identifier: Apache-2.0
#pragma once

// Carries out the requests of one node's agent: cordons the node, evicts its pods, answers the agent, and uncordons the
// node again.
//
// Advance() decides the next command, and this class carries it out.  The Node is read again for each write, so that
// changes by others are not overwritten.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "drain/evictions.h"
#include "drain/progress.h"
#include "drain/settings.h"
#include "drain/turns.h"
#include "event/watches.h"
#include "kube/client.h"

namespace pintle::drain {

class NodeDrain {
 public:
  // None of these functions may destroy the NodeDrain.
  struct Listener {
    std::function<void(const News& news)> report;
    std::function<void(const kube::ObjectName& pod)> evicted;
    // Calls `then`, now or later, once all news has been published.  So people can read the news before the agent goes
    // on.
    std::function<void(std::function<void()> then)> when_reported;
  };

  // The clock and the turns must outlive this object.
  NodeDrain(event::Loop& loop, kube::Client client, const Clock& clock, Turns& turns, std::string node,
            Listener listener);
  NodeDrain(const NodeDrain&) = delete;
  NodeDrain& operator=(const NodeDrain&) = delete;

  // Takes the Node from a mirror.  Ignores a Node that is older than the Node in the API server's last answer.
  void See(const api::Node& node, const Settings& settings);

  bool is_idle() const { return std::holds_alternative<phase::Idle>(phase_); }

 private:
  struct Answering {};

  // Takes the Node from the API server's answer to a request of ours.
  void SeeLatest(const api::Node& node);
  void Happen(const Event& event);

  void Stop();
  void Cordon(const Request& request);
  void Evict();
  void Answer(const Request& request);
  void Uncordon(const Request& request);

  void Amend(std::function<std::optional<json::Value>(const api::Node& now)> change,
             std::function<void(const api::Node& now)> then);

  event::Loop& loop_;
  kube::Client client_;
  const Clock& clock_;
  Turns& turns_;
  std::string node_;
  Listener listener_;
  Settings settings_;
  // The uid and the resource version of the Node in the API server's last answer.
  std::string latest_uid_;
  std::string latest_version_;
  Phase phase_ = phase::Idle{};
  std::unique_ptr<Evictions> evictions_;
  kube::Call call_;
  std::optional<std::chrono::milliseconds> retry_after_;  // The server's Retry-After of the last failure.
  // Exists while the agent is being answered.  After that, the `then` that when_reported() has got does nothing.
  std::shared_ptr<Answering> answering_;
  event::Timer time_is_up_;
};

}  // namespace pintle::drain
