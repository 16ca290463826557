// SPDX-License-Identifier: Apache-2.0
#include "ctl/cluster_history.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "api/annotations.h"
#include "base/output.h"
#include "base/printable.h"
#include "controller/watched.h"
#include "ctl/colour.h"
#include "ctl/rollout_situation.h"
#include "json/fields.h"
#include "json/parse.h"
#include "json/report.h"
#include "kube/list.h"

namespace pintle::ctl {
namespace {

constexpr std::string_view kNodeKind = "Node";
constexpr std::string_view kPoolKind = "MachineConfigPool";
constexpr std::string_view kWarningWord = "warning";
// The kinds of objects whose Events are read.
constexpr std::string_view kKindsWithEvents[] = {kNodeKind, kPoolKind, "MachineConfigNode"};

std::string FieldSelectorFor(std::string_view kind) { return fmt::format("involvedObject.kind={}", kind); }

// Returns the time of an Event of the newer interface, which leaves the fields of the older one empty.
std::optional<WallTime> TimeOfNewEvent(const json::Value& event) {
  for (const std::initializer_list<std::string_view> path :
       {std::initializer_list<std::string_view>{"series", "lastObservedTime"}, {"eventTime"}}) {
    const auto at = FromRfc3339(event.TextAt(path));
    if (at) return *at;
  }
  return std::nullopt;
}

std::optional<WallTime> At(const std::optional<api::Time>& time) {
  return time ? std::optional(time->at) : std::nullopt;
}

std::string ByWhom(const std::string& by) { return by.empty() ? "" : " by " + by; }

// Returns the text for a table's cell, which has at least one character and no line break.
std::string CellText(std::string_view text) { return text.empty() ? "-" : Printable(text); }

// Returns the word for the entry in the table's column WHAT.
std::string_view WordFor(const ClusterHappening& entry) {
  if (entry.is_warning) return kWarningWord;
  if (entry.what == "Event") return "event";
  if (entry.what == "Condition") return "condition";
  return entry.what == "Order" ? "order" : "rollout";
}

std::string MessageOf(const ClusterHappening& entry) {
  std::string message = CellText(entry.message);
  if (entry.count) message += fmt::format(" ({} times since {})", *entry.count, entry.first.value_or(entry.at));
  return message;
}

Colour ColourOfTimeline(std::string_view line) {
  // The time has a fixed width, and the word follows it.
  constexpr std::size_t kWord = std::string_view("2026-11-21T05:41:43Z  ").size();
  return line.size() > kWord && line.substr(kWord).starts_with(kWarningWord) ? Colour::kAttention : Colour::kNone;
}

Result<std::optional<api::MachineConfigPool>> FindPool(LiveCluster& cluster, const std::string& name) {
  auto pool = cluster.Get<api::MachineConfigPool>(name);
  if (pool) return std::optional(*std::move(pool));
  if (pool.error().kind() == ErrorKind::kNotFound) return std::optional<api::MachineConfigPool>();
  return pool.error();
}

Result<std::set<std::string, std::less<>>> NamesOfNodes(const api::MachineConfigPool& pool,
                                                        const ClusterObjects& objects) {
  std::set<std::string, std::less<>> names;
  std::vector<std::string> warnings;  // Not printed, since they are about nodes of other pools.
  TRY(WithSituation({}, pool, objects, warnings, [&](const pool::Situation& situation) {
    for (const pool::NodeState& node : situation.nodes) names.emplace(node.name());
  }));
  return names;
}

Result<> AddEvents(LiveCluster& cluster, ClusterTimeline& timeline) {
  for (const std::string_view kind : kKindsWithEvents) {
    TRY(cluster.ForEach(kube::kResourceKind<api::Event>, {.field_selector = FieldSelectorFor(kind), .page_size = 500},
                        [&](json::Value document) -> Result<> {
                          const std::optional<WallTime> happened = TimeOfNewEvent(document);
                          timeline.Add(TRY(kube::Decode<api::Event>(std::move(document))), happened);
                          return {};
                        }));
  }
  return {};
}

// Reads the policies.  Somebody who may not read them still gets the rest of the timeline.
Result<> AddPolicies(LiveCluster& cluster, ClusterTimeline& timeline) {
  const auto policies = cluster.All<api::RolloutPolicy>();
  if (!policies) {
    PrintToStderr(fmt::format("kubectl pintle: history: the RolloutPolicies cannot be read, and are left out: {}\n",
                              Printable(policies.error().message())));
    return {};
  }
  for (const api::RolloutPolicy& policy : *policies) timeline.Add(policy);
  return {};
}

Result<std::vector<ClusterHappening>> HistoryOfPool(LiveCluster& cluster, const api::MachineConfigPool& pool) {
  ClusterObjects objects;
  objects.pools = TRY(cluster.All<api::MachineConfigPool>());
  objects.nodes = TRY(cluster.All<api::Node>());
  ClusterTimeline timeline(pool.metadata.name, TRY(NamesOfNodes(pool, objects)));
  timeline.Add(pool);
  for (const api::Node& node : objects.nodes) timeline.Add(node);
  for (const auto& node : TRY(cluster.All<api::MachineConfigNode>())) timeline.Add(node);
  TRY(AddPolicies(cluster, timeline));
  TRY(AddEvents(cluster, timeline));
  return std::move(timeline).Entries();
}

Result<std::vector<ClusterHappening>> HistoryOfNode(LiveCluster& cluster, const std::string& name) {
  auto node = cluster.Get<api::Node>(name);
  if (!node && node.error().kind() == ErrorKind::kNotFound) {
    return Error(ErrorKind::kNotFound, fmt::format("the cluster has neither a pool nor a node \"{}\"", name));
  }
  if (!node) return node.error();
  ClusterTimeline timeline(std::nullopt, {name});
  timeline.Add(*node);
  const auto report = cluster.Get<api::MachineConfigNode>(name);
  if (report) timeline.Add(*report);
  if (!report && report.error().kind() != ErrorKind::kNotFound) return report.error();
  TRY(AddPolicies(cluster, timeline));
  TRY(AddEvents(cluster, timeline));
  return std::move(timeline).Entries();
}

}  // namespace

bool ClusterTimeline::IsAbout(std::string_view kind, std::string_view name) const {
  return kind == kPoolKind ? pool_ && *pool_ == name : nodes_.contains(name);
}

void ClusterTimeline::Add(std::optional<WallTime> at, std::string_view kind, std::string_view name, const char* what,
                          std::string reason, std::string message, bool is_warning) {
  if (!at || !IsAbout(kind, name)) return;
  entries_.push_back({.at = ToRfc3339(*at),
                      .kind = std::string(kind),
                      .name = std::string(name),
                      .what = what,
                      .is_warning = is_warning,
                      .reason = std::move(reason),
                      .message = std::move(message),
                      .count = std::nullopt,
                      .first = std::nullopt});
}

void ClusterTimeline::Add(const api::Event& event, const std::optional<WallTime>& happened) {
  const api::ObjectReference& about = event.involved_object;
  const std::string_view kind = about.kind == kPoolKind ? kPoolKind : kNodeKind;
  const auto last = At(event.last_timestamp);
  const auto first = At(event.first_timestamp);
  const auto at = last ? last : first ? first : happened ? happened : At(event.metadata.creation_timestamp);
  const std::size_t before = entries_.size();
  Add(at, kind, about.name, "Event", event.reason, event.message, event.type == "Warning");
  if (entries_.size() == before || event.count <= 1) return;
  entries_.back().count = event.count;
  if (first) entries_.back().first = ToRfc3339(*first);
}

void ClusterTimeline::Add(const api::Node& node) {
  Add(At(node.metadata.creation_timestamp), kNodeKind, node.metadata.name, "Event", "Created", "the Node was created");
}

void ClusterTimeline::Add(const api::MachineConfigNode& node) {
  for (const api::Condition& condition : node.status.conditions) {
    const std::string reason = condition.reason.empty() ? "" : condition.reason + ": ";
    const bool is_warning = condition.status == "True" && condition.type.find("Degraded") != std::string::npos;
    Add(At(condition.last_transition_time), kNodeKind, node.metadata.name, "Condition",
        fmt::format("{}={}", condition.type, condition.status), reason + condition.message, is_warning);
  }
}

void ClusterTimeline::Add(const api::MachineConfigPool& pool) {
  const std::string& name = pool.metadata.name;
  const auto since = FromRfc3339(pool.metadata.Annotation(api::kTargetSinceAnnotation));
  if (since) {
    Add(*since, kPoolKind, name, "Rollout", "NewTarget",
        fmt::format("the pool got its present config, {}", pool.spec.configuration.name));
  }
  for (const auto& [annotation, reason] :
       {std::pair(api::kApproveAnnotation, "Approve"), std::pair(api::kResumeAnnotation, "Resume"),
        std::pair(api::kOverrideAnnotation, "Override")}) {
    // An annotation may have any text.  An order that cannot be read is left out, since the controller ignores it.
    auto document = json::Parse(pool.metadata.Annotation(annotation));
    if (!document) continue;
    json::Report report;
    const auto order = json::Decode<api::RolloutOrder>(*std::move(document), report);
    const auto at = FromRfc3339(order.at);
    if (!report.ToResult() || !at) continue;
    const std::string wave = order.wave > 0 ? fmt::format(", wave {}", order.wave) : "";
    const std::string why = order.reason.empty() ? "" : ": " + order.reason;
    Add(*at, kPoolKind, name, "Order", reason, fmt::format("{}{}{}{}", order.target, wave, ByWhom(order.by), why));
  }
}

void ClusterTimeline::Add(const api::RolloutPolicy& policy) {
  for (const api::RolloutPoolStatus& status : policy.status.pools) {
    const api::RolloutMemory& memory = status.memory;
    const auto add = [&](const std::optional<api::Time>& at, const char* reason, std::string message,
                         bool is_warning = false) {
      Add(At(at), kPoolKind, status.name, "Rollout", reason, std::move(message), is_warning);
    };
    add(memory.began, "RolloutBegan", memory.target);
    for (const api::RolloutWaveEnd& end : memory.ended) add(end.at, "WaveDone", fmt::format("wave {}", end.wave));
    for (const api::RolloutApproval& approval : memory.approvals) {
      add(approval.at, "Approved", fmt::format("wave {}{}", approval.wave, ByWhom(approval.by)));
    }
    for (const api::RolloutResumption& resumption : memory.resumptions) {
      add(resumption.at, "Resumed", fmt::format("the rollout{}", ByWhom(resumption.by)));
    }
    if (memory.override_used) {
      add(memory.override_used->at, "Overridden",
          fmt::format("the windows{}: {}", ByWhom(memory.override_used->by), memory.override_used->reason));
    }
    if (memory.halt) add(memory.halt->since, "Halted", memory.halt->message, true);
    add(status.since, status.phase.c_str(), status.message, status.phase == "Halted");
    for (const auto& [node, at] : memory.assigned_at) {
      Add(at.at, kNodeKind, node, "Rollout", "Assigned", fmt::format("the node gets {}", memory.target));
    }
  }
}

std::vector<ClusterHappening> ClusterTimeline::Entries() && {
  // All times have the same form, so their order as texts is their order in time.
  std::stable_sort(entries_.begin(), entries_.end(), [](const ClusterHappening& a, const ClusterHappening& b) {
    return std::tie(a.at, a.kind, a.name) < std::tie(b.at, b.kind, b.name);
  });
  return std::move(entries_);
}

std::string TimelineText(std::span<const ClusterHappening> entries) {
  std::size_t name_width = std::string_view("NAME").size();
  std::size_t reason_width = std::string_view("REASON").size();
  for (const ClusterHappening& entry : entries) {
    name_width = std::max(name_width, CellText(entry.name).size());
    reason_width = std::max(reason_width, CellText(entry.reason).size());
  }
  std::string text = fmt::format("{:<20}  {:<9}  {:<{}}  {:<{}}  MESSAGE\n", "TIME", "WHAT", "NAME", name_width,
                                 "REASON", reason_width);
  for (const ClusterHappening& entry : entries) {
    text += fmt::format("{:<20}  {:<9}  {:<{}}  {:<{}}  {}\n", entry.at, WordFor(entry), CellText(entry.name),
                        name_width, CellText(entry.reason), reason_width, MessageOf(entry));
  }
  return text;
}

Result<ExitStatus> ClusterHistory(const CommandLine& line) {
  const Form form = FormOf(line);
  if (line.operands().size() != 1) return Error(ErrorKind::kInvalid, "name one node or one pool");
  const std::string name(line.operands().front());
  LiveCluster cluster = TRY(LiveCluster::Of(line));
  const auto pool = TRY(FindPool(cluster, name));
  const std::vector<ClusterHappening> entries =
      TRY(pool ? HistoryOfPool(cluster, *pool) : HistoryOfNode(cluster, name));
  if (form != Form::kText) {
    PrintData(json::Encode(entries), form);
  } else if (entries.empty()) {
    Print(fmt::format("The cluster has no record of what happened to {}.\n", Printable(name)));
  } else {
    PrintColoured(TimelineText(entries), ColourOfTimeline);
  }
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
