// SPDX-License-Identifier: Apache-2.0
#pragma once

// Does for one node what its agent asks for: cordons it, has its pods evicted, says so, and uncordons it again.
//
// What comes next is decided by Advance(); this is how it is done.  The Node is read anew for each write, so that what
// somebody changed in between counts.

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
  // None of these may destroy it.
  struct Listener {
    std::function<void(const News& news)> tell;
    std::function<void(const kube::ObjectName& pod)> evicted;
    // Calls back, now or later, when others know all that was told, so that they know it before the agent does.
    std::function<void(std::function<void()> then)> when_told;
  };

  // The clock and the turns must outlive it.
  NodeDrain(event::Loop& loop, kube::Client client, const Clock& clock, Turns& evictions, std::string node,
            Listener listener);
  NodeDrain(const NodeDrain&) = delete;
  NodeDrain& operator=(const NodeDrain&) = delete;

  // The Node as a mirror shows it, which may be behind what the API server has answered to us.
  void See(const api::Node& node, const Settings& settings);

  bool is_idle() const { return std::holds_alternative<phase::Idle>(phase_); }

 private:
  void Answered(const api::Node& node);
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
  std::string answered_uid_;
  std::string answered_version_;
  Phase phase_ = phase::Idle{};
  std::unique_ptr<Evictions> evictions_;
  kube::Call call_;
  std::optional<std::chrono::milliseconds> stay_away_;  // What the server wants of us after the last failure.
  std::shared_ptr<bool> awaits_telling_;                // Replaced by null when nobody is to call back any more.
  event::Timer time_is_up_;
};

}  // namespace pintle::drain
