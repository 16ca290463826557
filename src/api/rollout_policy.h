// SPDX-License-Identifier: Apache-2.0
#pragma once

// A RolloutPolicy: in which waves, when, and behind which gates the nodes of a pool are updated.
//
// The kind is Pintle's own.  Its status describes the rollout of each pool: for people, and for the controller, which
// must remember the rollout after a restart.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/label_selector.h"
#include "api/lenient.h"
#include "api/machine_config_pool.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

inline constexpr std::string_view kRolloutPolicyGroup = "pintle.io";

// Annotations of a MachineConfigPool with which a person gives orders to the pool's rollout.
//
// Each value is a RolloutOrder as JSON.  With an override, the rollout that the order is for disregards the windows and
// the freeze.
inline constexpr std::string_view kApproveAnnotation = "pintle.io/rollout-approve";
inline constexpr std::string_view kResumeAnnotation = "pintle.io/rollout-resume";
inline constexpr std::string_view kOverrideAnnotation = "pintle.io/rollout-override";
// Annotations of a Node, for a policy with `stage: All`.
//
// The controller sets kStageAnnotation to the target that the node will get later: the name of the config, and after a
// space the image that was built for it, if there is one.  The node's agent stages this target and then sets
// kStagedAnnotation to the same value.  If the agent cannot stage the target, it sets kUnstageableAnnotation to the
// reason.
inline constexpr std::string_view kStageAnnotation = "pintle.io/stage";
inline constexpr std::string_view kStagedAnnotation = "pintle.io/staged";
inline constexpr std::string_view kUnstageableAnnotation = "pintle.io/unstageable";

// An order of a person.  It holds for one target only, so that it does not act on a later target by mistake.
struct RolloutOrder {
  std::string target;
  // In an approval: the digest of the wave that may begin, as the policy's status has it.
  std::string wave_digest;
  std::int32_t wave = 0;  // The number of this wave at the time of the order, for people; the first wave is number 1.
  std::string reason;     // In an override: why the windows and the freeze are disregarded.
  std::string by;         // The person who gave the order.
  std::string at;         // The time of the order; two orders of one person have different times.
  // The beginning of the rollout that the order is for.  If it is unset, as older versions of `kubectl pintle` left it
  // in overrides, the order is for the rollout of the target in which the controller reads it first.
  std::optional<Time> began;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"target", &RolloutOrder::target},
      json::Field{"waveDigest", &RolloutOrder::wave_digest},
      json::Field{"wave", &RolloutOrder::wave},
      json::Field{"reason", &RolloutOrder::reason},
      json::Field{"by", &RolloutOrder::by},
      json::Field{"at", &RolloutOrder::at},
      json::Field{"began", &RolloutOrder::began},
  };
};

// ---- the spec ----

struct RolloutWave {
  std::string name;
  std::optional<IntOrString> nodes;  // Without `nodes` and `nodeSelector`, the wave has all nodes that are left.
  std::optional<LabelSelector> node_selector;
  std::optional<IntOrString> max_unavailable;
  std::string soak;                              // How long all nodes of the wave must be well before the next wave.
  std::optional<IntOrString> failure_threshold;  // How many nodes may fail; one more halts the rollout.
  std::string node_timeout;                      // A node that takes longer than this has failed.
  std::string ready_timeout;  // A node that is done, and is not ready for longer than this, has failed.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"name", &RolloutWave::name},
      json::Field{"nodes", &RolloutWave::nodes},
      json::Field{"nodeSelector", &RolloutWave::node_selector},
      json::Field{"maxUnavailable", &RolloutWave::max_unavailable},
      json::Field{"soak", &RolloutWave::soak},
      json::Field{"failureThreshold", &RolloutWave::failure_threshold},
      json::Field{"nodeTimeout", &RolloutWave::node_timeout},
      json::Field{"readyTimeout", &RolloutWave::ready_timeout},
  };
};

// Only nodes with the same value of this label are updated at the same time.
struct RolloutDomains {
  std::string label;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"label", &RolloutDomains::label}};
};

struct RolloutWindow {
  std::vector<std::string> days;  // The days on which the window begins, such as "Mon"; empty means every day.
  std::string start;              // A local time such as "22:30".
  std::string duration;           // Such as "4h".
  std::string time_zone;          // Such as "Europe/Berlin"; empty means UTC.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"days", &RolloutWindow::days},
      json::Required{"start", &RolloutWindow::start},
      json::Required{"duration", &RolloutWindow::duration},
      json::Field{"timeZone", &RolloutWindow::time_zone},
  };
};

struct RolloutFreeze {
  std::string until;  // A date.  The freeze ends when this day begins.
  std::string time_zone;
  std::string reason;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"until", &RolloutFreeze::until},
      json::Field{"timeZone", &RolloutFreeze::time_zone},
      json::Field{"reason", &RolloutFreeze::reason},
  };
};

// A condition that a Node must have with this status.
struct GateCondition {
  std::string type;
  std::string status = "True";

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"type", &GateCondition::type},
      json::Field{"status", &GateCondition::status},
  };

  bool operator==(const GateCondition&) const = default;
};

// An annotation that a Node must have.  If no value is given, any value is accepted.
struct GateAnnotation {
  std::string key;
  std::optional<std::string> value;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"key", &GateAnnotation::key},
      json::Field{"value", &GateAnnotation::value},
  };

  bool operator==(const GateAnnotation&) const = default;
};

// A Prometheus query whose result must be empty.
struct GateQuery {
  std::string url;
  std::string query;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"url", &GateQuery::url},
      json::Required{"query", &GateQuery::query},
  };

  bool operator==(const GateQuery&) const = default;
};

// A URL that must answer with a status from 200 to 299.
struct GateHttp {
  std::string url;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"url", &GateHttp::url}};

  bool operator==(const GateHttp&) const = default;
};

struct RolloutGate {
  std::string name;
  std::string when;  // "Before" a node is updated, or "After" the nodes of a wave.
  std::optional<GateCondition> condition;
  std::optional<GateAnnotation> annotation;
  std::optional<GateQuery> prometheus;
  std::optional<GateHttp> http;
  std::string timeout;
  std::string on_timeout;  // "Wait", "Halt" or "Continue".

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &RolloutGate::name},
      json::Required{"when", &RolloutGate::when},
      json::Field{"nodeCondition", &RolloutGate::condition},
      json::Field{"nodeAnnotation", &RolloutGate::annotation},
      json::Field{"prometheus", &RolloutGate::prometheus},
      json::Field{"http", &RolloutGate::http},
      json::Field{"timeout", &RolloutGate::timeout},
      json::Field{"onTimeout", &RolloutGate::on_timeout},
  };
};

struct RolloutPolicySpec {
  std::string pool;
  std::optional<LabelSelector> pool_selector;
  std::vector<RolloutWave> waves;
  std::optional<RolloutDomains> order;
  std::string approve;  // "Manual" or "Automatic".  With "Manual", each wave but the first waits for an approval.
  std::vector<RolloutWindow> windows;
  std::string window_scope;  // "AllChanges" or "DisruptiveChanges".
  std::optional<RolloutFreeze> freeze;
  std::vector<RolloutGate> gates;
  std::string stage;  // "All" or "None".  With "All", no node is updated before all nodes have staged the target.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"pool", &RolloutPolicySpec::pool},
      json::Field{"poolSelector", &RolloutPolicySpec::pool_selector},
      json::Field{"waves", &RolloutPolicySpec::waves},
      json::Field{"order", &RolloutPolicySpec::order},
      json::Field{"approve", &RolloutPolicySpec::approve},
      json::Field{"windows", &RolloutPolicySpec::windows},
      json::Field{"windowScope", &RolloutPolicySpec::window_scope},
      json::Field{"freeze", &RolloutPolicySpec::freeze},
      json::Field{"gates", &RolloutPolicySpec::gates},
      json::Field{"stage", &RolloutPolicySpec::stage},
  };
};

// ---- the status ----

struct RolloutApproval {
  std::int32_t wave = 0;    // The number that the wave had when it was approved.
  std::string wave_digest;  // The digest of the definition of the wave and of the target that were approved.
  std::string by;           // The person who approved.
  std::optional<Time> at;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"wave", &RolloutApproval::wave},
      json::Field{"waveDigest", &RolloutApproval::wave_digest},
      json::Field{"by", &RolloutApproval::by},
      json::Field{"at", &RolloutApproval::at},
  };
};

struct RolloutHalt {
  std::string reason;
  std::string gate;  // The name of the gate that halts the rollout; empty if failures halt it.
  std::string message;
  std::optional<Time> since;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"reason", &RolloutHalt::reason},
      json::Field{"gate", &RolloutHalt::gate},
      json::Field{"message", &RolloutHalt::message},
      json::Field{"since", &RolloutHalt::since},
  };
};

struct RolloutResumption {
  std::vector<std::string> nodes;  // The nodes whose failures no longer count, or the first of them.
  std::int32_t more_nodes = 0;     // How many other such nodes there were.
  std::string gate;  // The gate that is passed for the rest of the wave; empty if failures were the cause.
  std::string by;
  std::optional<Time> at;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"nodes", &RolloutResumption::nodes}, json::Field{"moreNodes", &RolloutResumption::more_nodes},
      json::Field{"gate", &RolloutResumption::gate},   json::Field{"by", &RolloutResumption::by},
      json::Field{"at", &RolloutResumption::at},
  };
};

struct RolloutOverride {
  std::string target;
  std::string reason;
  std::string by;
  std::optional<Time> at;
  std::optional<Time> withdrawn;  // The time since which the pool has another order, no order, or another target.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"target", &RolloutOverride::target},
      json::Field{"reason", &RolloutOverride::reason},
      json::Field{"by", &RolloutOverride::by},
      json::Field{"at", &RolloutOverride::at},
      json::Field{"withdrawn", &RolloutOverride::withdrawn},
  };
};

// Records how long the nodes took in the latest rollout in which a node was done.
struct RolloutDurations {
  std::string target;
  std::int32_t nodes = 0;    // The number of nodes that were done.
  std::int64_t seconds = 0;  // The sum of their times, each from when the node was given the target until it was done.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"target", &RolloutDurations::target},
      json::Required{"nodes", &RolloutDurations::nodes},
      json::Required{"seconds", &RolloutDurations::seconds},
  };
};

// A wave that has updated nodes and is over.
struct RolloutWaveEnd {
  std::int32_t wave = 0;  // The number of the wave, from 1.
  std::optional<Time> at;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"wave", &RolloutWaveEnd::wave},
      json::Field{"at", &RolloutWaveEnd::at},
  };
};

// Those nodes of a gate for which RolloutMemory::blocked or RolloutMemory::waited has no room.
struct RolloutBlockedNodes {
  std::string gate;
  std::int32_t nodes = 0;  // The number of these nodes.
  std::string times;       // Their times or seconds, in the form of pool/blocked_nodes.h.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"gate", &RolloutBlockedNodes::gate},
      json::Required{"nodes", &RolloutBlockedNodes::nodes},
      json::Field{"times", &RolloutBlockedNodes::times},
  };
};

// The state of a rollout that the controller must remember.  Every decision is a function of this value and of the
// cluster.
struct RolloutMemory {
  std::string target;  // The name of the rendered config, followed by the image if there is one.
  std::optional<Time> began;
  std::int32_t wave_index = 0;       // The wave that is under way, counted from 0.
  std::vector<std::string> members;  // The wave's nodes, sorted; empty for a wave with all nodes that are left.
  bool has_begun = false;            // Whether the wave has begun, which means that its members have been chosen.
  std::optional<Time> well_since;    // The time since which all nodes of the wave are well.
  std::map<std::string, Time> assigned_at;  // When nodes that are not done yet were given the target.
  std::optional<RolloutDurations> took;
  std::vector<RolloutWaveEnd> ended;  // The first end of each wave of this rollout.
  // These lists of nodes are sorted.  A node is removed from them when it is well.
  std::vector<std::string> ailing;      // Nodes with faults of which this rollout is not the cause.
  std::vector<std::string> excused;     // Nodes that have failed in this rollout, and whose failures no longer count.
  std::vector<std::string> failed;      // Nodes that have failed because they were late or not ready for too long.
  std::vector<std::string> broken;      // Nodes that an earlier target has broken.
  std::vector<std::string> unfinished;  // Nodes that were on the way to another target when this rollout began.
  std::map<std::string, Time> unready_since;  // The time since which nodes are done and not ready.
  // The times since which the timeouts of gates run.  A key is GATE or GATE/NODE.
  std::map<std::string, Time> blocked;
  std::vector<RolloutBlockedNodes> blocked_more;
  // For timeouts that stand still now: the seconds that they had run when they were stopped, with the same keys.
  std::map<std::string, std::int64_t> waited;
  std::vector<RolloutBlockedNodes> waited_more;
  std::vector<std::string> passed_gates;  // Gates that the present wave passes because a person has resumed it, sorted.
  std::optional<RolloutHalt> halt;
  std::vector<RolloutApproval> approvals;
  std::vector<RolloutResumption> resumptions;
  std::string approve_seen;   // The latest order to approve; kept so that the order acts at most once.
  std::string resume_seen;    // The latest order to resume; kept so that the order acts at most once.
  std::string override_seen;  // The latest order to disregard the windows; kept so that it acts in one rollout only.
  std::optional<RolloutOverride> override_used;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"target", &RolloutMemory::target},
      json::Field{"began", &RolloutMemory::began},
      json::Field{"wave", &RolloutMemory::wave_index},
      json::Field{"members", &RolloutMemory::members},
      json::Field{"hasBegun", &RolloutMemory::has_begun},
      json::Field{"wellSince", &RolloutMemory::well_since},
      json::Field{"told", &RolloutMemory::assigned_at},
      json::Field{"took", &RolloutMemory::took},
      json::Field{"ended", &RolloutMemory::ended},
      json::Field{"ailing", &RolloutMemory::ailing},
      json::Field{"excused", &RolloutMemory::excused},
      json::Field{"failed", &RolloutMemory::failed},
      json::Field{"broken", &RolloutMemory::broken},
      json::Field{"unfinished", &RolloutMemory::unfinished},
      json::Field{"unreadySince", &RolloutMemory::unready_since},
      json::Field{"blocked", &RolloutMemory::blocked},
      json::Field{"blockedMore", &RolloutMemory::blocked_more},
      json::Field{"waited", &RolloutMemory::waited},
      json::Field{"waitedMore", &RolloutMemory::waited_more},
      json::Field{"passedGates", &RolloutMemory::passed_gates},
      json::Field{"halt", &RolloutMemory::halt},
      json::Field{"approvals", &RolloutMemory::approvals},
      json::Field{"resumptions", &RolloutMemory::resumptions},
      json::Field{"approveSeen", &RolloutMemory::approve_seen},
      json::Field{"resumeSeen", &RolloutMemory::resume_seen},
      json::Field{"overrideSeen", &RolloutMemory::override_seen},
      json::Field{"override", &RolloutMemory::override_used},
  };
};

struct RolloutPoolStatus {
  std::string name;
  std::string phase;
  std::string message;         // What the rollout does, or what it waits for.
  std::optional<Time> since;   // The time since which the rollout is in this phase.
  std::int32_t wave = 0;       // The number of the wave, from 1.
  std::int32_t waves = 0;      // The number of waves.
  std::string wave_digest;     // The digest of the wave that waits for an approval; empty if no wave waits for one.
  std::int32_t nodes = 0;      // The number of the pool's nodes.
  std::int32_t updated = 0;    // The number of nodes that have reached the target.
  std::optional<Time> opens;   // When the present or the next window begins.
  std::optional<Time> closes;  // When that window ends.
  RolloutMemory memory;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &RolloutPoolStatus::name},           json::Field{"phase", &RolloutPoolStatus::phase},
      json::Field{"message", &RolloutPoolStatus::message},        json::Field{"since", &RolloutPoolStatus::since},
      json::Required{"wave", &RolloutPoolStatus::wave},           json::Required{"waves", &RolloutPoolStatus::waves},
      json::Field{"waveDigest", &RolloutPoolStatus::wave_digest}, json::Required{"nodes", &RolloutPoolStatus::nodes},
      json::Required{"updated", &RolloutPoolStatus::updated},     json::Field{"opens", &RolloutPoolStatus::opens},
      json::Field{"closes", &RolloutPoolStatus::closes},          json::Required{"memory", &RolloutPoolStatus::memory},
  };
};

struct RolloutPolicyStatus {
  std::int64_t observed_generation = 0;
  std::vector<Condition> conditions;
  std::string phases;  // For `kubectl get`: the phase of each pool, such as "infra: Complete, worker: Halted".
  std::vector<RolloutPoolStatus> pools;  // Sorted by name.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"observedGeneration", &RolloutPolicyStatus::observed_generation},
      json::Required{"conditions", &RolloutPolicyStatus::conditions},
      json::Field{"phases", &RolloutPolicyStatus::phases},
      json::Required{"pools", &RolloutPolicyStatus::pools},
  };
};

struct RolloutPolicy {
  static constexpr std::string_view kKind = "RolloutPolicy";

  ObjectMeta metadata;
  RolloutPolicySpec spec;
  RolloutPolicyStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &RolloutPolicy::metadata},
      json::Required{"spec", &RolloutPolicy::spec},
      json::Field{"status", &RolloutPolicy::status},
  };
};

}  // namespace pintle::api
