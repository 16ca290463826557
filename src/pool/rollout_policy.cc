// SPDX-License-Identifier: Apache-2.0
#include "pool/rollout_policy.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "json/fields.h"
#include "json/parse.h"
#include "pool/time_fields.h"

namespace pintle::pool {
namespace {

// Returns nullopt if the text is not a whole number from 0 on.
std::optional<int> ReadPercent(std::string_view text) {
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || text.starts_with('-')) return std::nullopt;
  return number;
}

// Returns nullopt for a negative number, and for a text that is not a percentage from 0% to 100%.
std::optional<NodeShare> ReadNodeShare(const api::IntOrString& from) {
  if (const auto* number = std::get_if<std::int32_t>(&from.value)) {
    return *number < 0 ? std::nullopt : std::optional(NodeShare{*number, false});
  }
  const std::string_view text = std::get<std::string>(from.value);
  if (!text.ends_with('%')) return std::nullopt;
  const auto percent = ReadPercent(text.substr(0, text.size() - 1));
  return !percent || *percent > 100 ? std::nullopt : std::optional(NodeShare{*percent, true});
}

std::string TextOf(const api::IntOrString& from) {
  const auto* number = std::get_if<std::int32_t>(&from.value);
  return number != nullptr ? std::to_string(*number) : std::get<std::string>(from.value);
}

class PolicyCompiler {
 public:
  PolicyCompiler(const api::RolloutPolicy& from, const FindZone& find_zone) : from_(from), find_zone_(find_zone) {}

  Result<Policy> Compile() && {
    const api::RolloutPolicySpec& spec = from_.spec;
    Policy policy;
    policy.name = from_.metadata.name;
    CheckPools(spec);
    // A list that is too long is the only problem to report: the problems of all its entries would hide it.
    if (HasTooMany(spec)) return Problems();
    policy.waves = CompileWaves(spec.waves);
    if (spec.order) {
      policy.order_label = spec.order->label;
      for (const std::string& why : api::ProblemsOfLabelKey(spec.order->label)) {
        Problem("spec.order.label", spec.order->label, "is not the key of a label: " + why);
      }
    }
    policy.needs_approval = IsSecond(spec.approve, "Automatic", "Manual", "spec.approve");
    policy.windows = Windows::Compile(spec.windows, spec.freeze, find_zone_, problems_);
    policy.are_windows_for_disruptions_only =
        IsSecond(spec.window_scope, "AllChanges", "DisruptiveChanges", "spec.windowScope");
    if (spec.freeze) policy.freeze_reason = spec.freeze->reason;
    policy.gates = CompileGates(spec.gates, problems_);
    policy.stages_all = IsSecond(spec.stage, "None", "All", "spec.stage");
    if (problems_.empty()) return policy;
    return Problems();
  }

 private:
  Error Problems() const { return Error(ErrorKind::kInvalid, fmt::format("{}", fmt::join(problems_, "; "))); }

  // Returns whether one of the lists is too long; each such list is a problem.
  bool HasTooMany(const api::RolloutPolicySpec& spec) {
    bool has_too_many = false;
    const auto check = [&](const char* list, std::size_t count, std::size_t most) {
      if (count <= most) return;
      Problem(fmt::format("spec.{}", list), fmt::format("has {} {}; write at most {}", count, list, most));
      has_too_many = true;
    };
    check("waves", spec.waves.size(), kMostWaves);
    check("windows", spec.windows.size(), kMostWindows);
    check("gates", spec.gates.size(), kMostGates);
    return has_too_many;
  }

  void Problem(const std::string& field, std::string_view value, std::string_view fault) {
    problems_.push_back(fmt::format("{}: \"{}\" {}", field, value, fault));
  }
  void Problem(const std::string& field, std::string_view fault) {
    problems_.push_back(fmt::format("{}: {}", field, fault));
  }

  void CheckPools(const api::RolloutPolicySpec& spec) {
    if (spec.pool.empty() == !spec.pool_selector) {
      Problem("spec.pool",
              "name one pool here, or select pools by spec.poolSelector; a policy has exactly one of the two fields");
    }
    if (spec.pool_selector && spec.pool_selector->is_empty()) {
      Problem("spec.poolSelector", "is empty; write matchLabels or matchExpressions");
    }
    if (!spec.pool_selector) return;
    const auto selector = api::Selector::Compile(spec.pool_selector);
    if (!selector) Problem("spec.poolSelector", selector.error().message());
  }

  // Returns whether `text` is the value `second`.  An empty text stands for `first`; any other text is a problem.
  bool IsSecond(const std::string& text, std::string_view first, std::string_view second, const char* field) {
    if (!text.empty() && text != first && text != second) {
      Problem(field, text, fmt::format("is not known; write {} or {}", first, second));
    }
    return text == second;
  }

  std::vector<Wave> CompileWaves(const std::vector<api::RolloutWave>& from) {
    std::vector<Wave> waves;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::string field = fmt::format("spec.waves[{}]", i);
      waves.push_back(CompileWave(from[i], field));
      waves.back().definition = json::ToText(json::Encode(from[i]));
      if (waves.back().name.empty()) waves.back().name = fmt::format("wave {}", i + 1);
      if (waves.back().has_all_remaining_nodes() && i + 1 < from.size()) {
        Problem(field,
                "has neither nodes nor nodeSelector, so it leaves no nodes to later waves; write one of the two "
                "fields, or make this wave the last one");
      }
    }
    if (!waves.empty() && waves.back().has_all_remaining_nodes()) return waves;
    // A wave is added for the nodes that no other wave has.  It has the timeouts of the policy's last wave, but the
    // default failure threshold: the threshold of a canary wave may allow all of its few nodes to fail.
    Wave added;
    added.name = "all nodes";
    if (!waves.empty()) {
      added.name = "all other nodes";
      added.failure_threshold = NodeShare{0, false};
      added.node_timeout = waves.back().node_timeout;
      added.ready_timeout = waves.back().ready_timeout;
    }
    waves.push_back(std::move(added));
    return waves;
  }

  Wave CompileWave(const api::RolloutWave& from, const std::string& field) {
    Wave wave;
    wave.name = from.name;
    wave.nodes = ShareOf(from.nodes, field + ".nodes", 1);
    wave.max_unavailable = ShareOf(from.max_unavailable, field + ".maxUnavailable", 1);
    wave.failure_threshold = ShareOf(from.failure_threshold, field + ".failureThreshold", 0);
    if (!from.failure_threshold) wave.failure_threshold = NodeShare{0, false};
    if (from.node_selector) {
      auto selector = api::Selector::Compile(from.node_selector);
      if (!selector) {
        Problem(field + ".nodeSelector", selector.error().message());
      } else if (from.node_selector->is_empty()) {
        Problem(field + ".nodeSelector", "is empty; write matchLabels or matchExpressions, or leave the field out");
      } else {
        wave.selector = *std::move(selector);
      }
    }
    wave.soak = SpanOf(from.soak, field + ".soak", problems_).value_or(wave.soak);
    wave.node_timeout = LimitOf(from.node_timeout, field + ".nodeTimeout", problems_).value_or(wave.node_timeout);
    const auto ready_timeout = LimitOf(from.ready_timeout, field + ".readyTimeout", problems_);
    wave.ready_timeout = std::min(ready_timeout.value_or(wave.ready_timeout), wave.node_timeout);
    return wave;
  }

  // Returns nullopt if the field is not set, or is a problem.  The share must be `least` or more.
  std::optional<NodeShare> ShareOf(const std::optional<api::IntOrString>& from, const std::string& field, int least) {
    if (!from) return std::nullopt;
    const auto share = ReadNodeShare(*from);
    if (share && share->number >= least) return share;
    Problem(field, TextOf(*from),
            fmt::format(
                "is neither a number from {0} on nor a percentage from {0}% to 100%; write a value such as 2 or 10%",
                least));
    return std::nullopt;
  }

  const api::RolloutPolicy& from_;
  const FindZone& find_zone_;
  std::vector<std::string> problems_;
};

bool IsFor(const api::RolloutPolicy& policy, const api::MachineConfigPool& pool) {
  if (!policy.spec.pool.empty()) {
    // A policy with both a name and a selector cannot be used, and then counts for the pools of both.
    if (policy.spec.pool == pool.metadata.name) return true;
    if (!policy.spec.pool_selector) return false;
  }
  const auto selector = api::Selector::Compile(policy.spec.pool_selector);
  const bool is_usable = policy.spec.pool_selector && !policy.spec.pool_selector->is_empty() && selector;
  return !is_usable || selector->Matches(pool.metadata.labels);
}

}  // namespace

std::size_t NodeShare::RoundedUp(std::size_t count) const {
  const auto parts = static_cast<std::size_t>(number);
  return is_percentage ? (parts * count + 99) / 100 : parts;
}

std::size_t NodeShare::RoundedDown(std::size_t count) const {
  const auto parts = static_cast<std::size_t>(number);
  return is_percentage ? parts * count / 100 : parts;
}

Result<Policy> CompilePolicy(const api::RolloutPolicy& policy, const FindZone& find_zone) {
  return PolicyCompiler(policy, find_zone).Compile();
}

PolicyChoice ChoosePolicy(const api::MachineConfigPool& pool, std::span<const api::RolloutPolicy* const> policies) {
  std::vector<const api::RolloutPolicy*> found;
  for (const api::RolloutPolicy* policy : policies) {
    if (IsFor(*policy, pool)) found.push_back(policy);
  }
  std::sort(found.begin(), found.end(), [](const api::RolloutPolicy* a, const api::RolloutPolicy* b) {
    if (a->metadata.creation_timestamp != b->metadata.creation_timestamp) {
      return a->metadata.creation_timestamp < b->metadata.creation_timestamp;
    }
    return a->metadata.name < b->metadata.name;
  });
  PolicyChoice choice;
  if (found.empty()) return choice;
  choice.policy = found.front();
  choice.passed_over.assign(found.begin() + 1, found.end());
  return choice;
}

}  // namespace pintle::pool
