// SPDX-License-Identifier: Apache-2.0
#pragma once

// `kubectl pintle history`: prints what has happened to a node, or to a pool and its nodes, in the order of time.
//
// A cluster keeps no history of its own.  The timeline is put together from what it does keep: Events, the latest
// transition of each condition, orders in the annotations of a pool, and the memory of a rollout.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/event.h"
#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/node.h"
#include "api/rollout_policy.h"
#include "base/clock.h"
#include "ctl/answer.h"
#include "ctl/live_cluster.h"
#include "ctl/verbs.h"
#include "json/field_list.h"

namespace pintle::ctl {

inline constexpr std::array kClusterHistoryOptions = {
    kKubeconfigOption,
    kContextOption,
    kOutputOption,
};

// An entry of a timeline, in the form that `-o json` prints.
struct ClusterHappening {
  std::string at;
  std::string kind;  // "Node" or "MachineConfigPool".
  std::string name;  // The name of this object.
  std::string what;  // "Event", "Condition", "Order" or "Rollout".
  bool is_warning = false;
  std::string reason;
  std::string message;
  std::optional<std::int32_t> count;  // How often it has happened, if it was more than once; `at` is the latest time.
  std::optional<std::string> first;   // When it happened first, if it was more than once.

  static constexpr auto kFields = json::FieldList{
      json::Required{"at", &ClusterHappening::at},
      json::Required{"kind", &ClusterHappening::kind},
      json::Required{"name", &ClusterHappening::name},
      json::Required{"what", &ClusterHappening::what},
      json::Required{"warning", &ClusterHappening::is_warning},
      json::Required{"reason", &ClusterHappening::reason},
      json::Required{"message", &ClusterHappening::message},
      json::Field{"count", &ClusterHappening::count},
      json::Field{"first", &ClusterHappening::first},
  };

  bool operator==(const ClusterHappening&) const = default;
};

// Collects what has happened to a pool, to nodes, or to both.  Anything about other objects is left out.
class ClusterTimeline {
 public:
  ClusterTimeline(std::optional<std::string> pool, std::set<std::string, std::less<>> nodes)
      : pool_(std::move(pool)), nodes_(std::move(nodes)) {}

  // `happened` is the time of an Event that has neither a first nor a last timestamp.
  void Add(const api::Event& event, const std::optional<WallTime>& happened = std::nullopt);
  void Add(const api::Node& node);
  void Add(const api::MachineConfigNode& node);
  void Add(const api::MachineConfigPool& pool);
  void Add(const api::RolloutPolicy& policy);

  // Returns the entries from the oldest to the newest.
  std::vector<ClusterHappening> Entries() &&;

 private:
  bool IsAbout(std::string_view kind, std::string_view name) const;
  void Add(std::optional<WallTime> at, std::string_view kind, std::string_view name, const char* what,
           std::string reason, std::string message, bool is_warning = false);

  std::optional<std::string> pool_;
  std::set<std::string, std::less<>> nodes_;
  std::vector<ClusterHappening> entries_;
};

// Returns the entries as a table for people.
std::string TimelineText(std::span<const ClusterHappening> entries);

// The operand names a pool or a node.  If a pool and a node have the same name, the verb is about the pool.
Verb ClusterHistory;

}  // namespace pintle::ctl
