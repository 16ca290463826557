// SPDX-License-Identifier: Apache-2.0
#include "agent/local_rollout.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/rollout_policy.h"
#include "base/printable.h"
#include "base/time_zone_files.h"
#include "change/others_access.h"
#include "gates/gate_checks.h"
#include "json/fields.h"
#include "json/known_keys.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"

namespace pintle::agent {
namespace {

using machineconfig::Accepts;

constexpr std::string_view kRolloutPolicy = "RolloutPolicy";

// The fields of a RolloutPolicy's spec that make sense on one machine.
constexpr auto kKnown = std::to_array<std::string_view>({"windows", "freeze", "gates"});

template <typename T>
bool HasField(std::string_view name) {
  bool has = false;
  json::ForEachField<T>([&](const auto& field) { has = has || field.name == name; });
  return has;
}

// By a slip, a whole URL can become a key, and a URL may have a token in it.  So only plain names are repeated.
std::string_view Shown(std::string_view key) { return json::IsPlainName(key) ? key : "?"; }

template <typename T>
void CheckKeys(const json::Value& from, const std::string& place, std::vector<std::string>& problems) {
  if (!from.is_object()) return;
  for (const auto& [key, value] : from.members()) {
    if (!HasField<T>(key)) problems.push_back(fmt::format("{}.{} is not known; remove it", place, Shown(key)));
  }
}

void CheckGate(const json::Value& gate, const std::string& place, std::vector<std::string>& problems) {
  CheckKeys<api::RolloutGate>(gate, place, problems);
  for (const char* about_nodes : {"nodeCondition", "nodeAnnotation"}) {
    if (!gate[about_nodes].is_null()) {
      problems.push_back(
          fmt::format("{}.{} is about a Node, which a machine without a cluster does not have; write http or "
                      "prometheus instead",
                      place, about_nodes));
    }
  }
  if (gate.TextAt({"when"}) == "After") {
    problems.push_back(
        fmt::format("{}.when: \"After\" holds back the next nodes, which a machine without a cluster does not have; "
                    "write Before, or check the machine's health after a reboot with a program in /etc/pintle/check.d",
                    place));
  }
  CheckKeys<api::GateQuery>(gate["prometheus"], place + ".prometheus", problems);
  CheckKeys<api::GateHttp>(gate["http"], place + ".http", problems);
}

// Checks the keys of the document.  A gate that is not indented far enough would be beside the spec, and be ignored.
void CheckTop(const json::Value& document, std::vector<std::string>& problems) {
  if (!document.is_object()) return;
  for (const auto& [key, value] : document.members()) {
    if (key == "apiVersion" || key == "kind" || HasField<api::RolloutPolicy>(key)) continue;
    problems.push_back(HasField<api::RolloutPolicySpec>(key)
                           ? fmt::format("{} is beside spec; indent it, so that it is below spec", key)
                           : fmt::format("{} is not known; remove it", Shown(key)));
  }
}

// Reports keys that occur twice.  A second list of gates must not hide the first one.
void CheckDuplicates(const json::Report& report, std::vector<std::string>& problems) {
  for (const json::Problem& duplicate : report.problems()) {
    problems.push_back(
        fmt::format("{} occurs more than once; remove it, or all but one", json::PlaceForMessage(duplicate.path)));
  }
}

void CheckSpec(const json::Value& spec, std::vector<std::string>& problems) {
  if (!spec.is_object()) {
    problems.emplace_back("spec is missing; write spec.windows, spec.freeze or spec.gates");
    return;
  }
  for (const auto& [key, value] : spec.members()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end()) continue;
    problems.push_back(fmt::format("spec.{} {} a machine without a cluster; remove it", Shown(key),
                                   HasField<api::RolloutPolicySpec>(key) ? "has no effect on" : "is not known on"));
  }
  if (spec["windows"].is_array()) {
    for (std::size_t i = 0; i < spec["windows"].size(); ++i) {
      CheckKeys<api::RolloutWindow>(spec["windows"][i], fmt::format("spec.windows[{}]", i), problems);
    }
  }
  CheckKeys<api::RolloutFreeze>(spec["freeze"], "spec.freeze", problems);
  if (spec["gates"].is_array()) {
    for (std::size_t i = 0; i < spec["gates"].size(); ++i) {
      CheckGate(spec["gates"][i], fmt::format("spec.gates[{}]", i), problems);
    }
  }
}

// Checks the URLs of the gates, so that an unusable URL is reported before a change waits for its gate.
void CheckUrls(const std::vector<pool::Gate>& gates, std::vector<std::string>& problems) {
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const auto url = gates::UrlOf(gates[i]);
    if (url) continue;
    const char* const test = std::holds_alternative<api::GateHttp>(gates[i].test) ? "http" : "prometheus";
    problems.push_back(fmt::format("spec.gates[{}].{}.url: {}; write one such as https://shop.example.com/healthz", i,
                                   test, url.error().message()));
  }
}

Result<LocalRollout> Read(const std::string& file) {
  TRY(change::CheckOnlyRootWrites(file));
  json::Report duplicates;
  std::vector<json::Value> documents = TRY(machineconfig::ReadDocuments(file, Accepts::kFilesOnly, &duplicates));
  if (documents.size() != 1) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("the file has {} documents, but must have exactly one", documents.size()));
  }
  const std::string kind(machineconfig::KindOf(documents.front()));
  if (!kind.empty() && kind != kRolloutPolicy) return machineconfig::WrongKind(kRolloutPolicy, kind);
  std::vector<std::string> problems;
  CheckDuplicates(duplicates, problems);
  CheckTop(documents.front(), problems);
  CheckSpec(std::as_const(documents.front())["spec"], problems);
  const auto policy = machineconfig::ReadObject<api::RolloutPolicy>(std::move(documents.front()), kRolloutPolicy);
  if (!policy) {
    problems.push_back(policy.error().message());
    return Error(ErrorKind::kInvalid, fmt::format("{}", fmt::join(problems, "; ")));
  }
  const api::RolloutPolicySpec& spec = policy->spec;
  TimeZoneFiles zones;
  LocalRollout read;
  read.windows = pool::Windows::Compile(
      spec.windows, spec.freeze, [&](const std::string& name) { return zones.Find(name); }, problems);
  if (spec.freeze) read.freeze_reason = spec.freeze->reason;
  if (spec.gates.size() > pool::kMostGates) {
    problems.push_back(fmt::format("spec.gates: has {} gates; write at most {}", spec.gates.size(), pool::kMostGates));
  } else {
    read.gates = pool::CompileGates(spec.gates, problems);
  }
  if (problems.empty()) CheckUrls(read.gates, problems);
  if (!problems.empty()) return Error(ErrorKind::kInvalid, fmt::format("{}", fmt::join(problems, "; ")));
  return read;
}

}  // namespace

std::string LocalRollout::WhyClosed(WallTime now) const {
  if (windows.IsOpenAt(now)) return "";
  const std::string next = fmt::format("the next window begins at {}", ToRfc3339(windows.Next(now).begin));
  if (!windows.IsFrozenAt(now)) return next;
  const std::string reason = freeze_reason.empty() ? "" : fmt::format(" ({})", Printable(freeze_reason));
  return fmt::format("the freeze{} is not over, and {}", reason, next);
}

Result<LocalRollout> ReadLocalRollout(const std::string& file) {
  struct stat status = {};
  if (::lstat(file.c_str(), &status) != 0 && errno == ENOENT) return LocalRollout();
  return TRY(Read(file), file);
}

}  // namespace pintle::agent
