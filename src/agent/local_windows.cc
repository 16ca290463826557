// SPDX-License-Identifier: Apache-2.0
#include "agent/local_windows.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/config_directory.h"
#include "api/rollout_policy.h"
#include "base/printable.h"
#include "base/time_zone_files.h"
#include "json/fields.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"

namespace pintle::agent {
namespace {

using machineconfig::Accepts;

constexpr std::string_view kRolloutPolicy = "RolloutPolicy";

// The fields of a RolloutPolicy's spec that make sense on one machine.
constexpr auto kKnown = std::to_array<std::string_view>({"windows", "freeze"});

template <typename T>
bool HasField(std::string_view name) {
  bool has = false;
  json::ForEachField<T>([&](const auto& field) { has = has || field.name == name; });
  return has;
}

template <typename T>
void CheckKeys(const json::Value& from, const std::string& place, std::vector<std::string>& problems) {
  if (!from.is_object()) return;
  for (const auto& [key, value] : from.members()) {
    if (!HasField<T>(key)) problems.push_back(fmt::format("{}.{} is not known; remove it", place, Printable(key)));
  }
}

void CheckSpec(const json::Value& spec, std::vector<std::string>& problems) {
  if (!spec.is_object()) {
    problems.emplace_back("spec is missing; write spec.windows or spec.freeze");
    return;
  }
  for (const auto& [key, value] : spec.members()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) != kKnown.end()) continue;
    problems.push_back(fmt::format("spec.{} {} a machine without a cluster; remove it", Printable(key),
                                   HasField<api::RolloutPolicySpec>(key) ? "has no effect on" : "is not known on"));
  }
  if (spec["windows"].is_array()) {
    for (std::size_t i = 0; i < spec["windows"].size(); ++i) {
      CheckKeys<api::RolloutWindow>(spec["windows"][i], fmt::format("spec.windows[{}]", i), problems);
    }
  }
  CheckKeys<api::RolloutFreeze>(spec["freeze"], "spec.freeze", problems);
}

Result<LocalWindows> Read(const std::string& file) {
  TRY(CheckFile(file));
  std::vector<json::Value> documents = TRY(machineconfig::ReadDocuments(file, Accepts::kFilesOnly));
  if (documents.size() != 1) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("the file has {} documents, but must have exactly one", documents.size()));
  }
  const std::string kind(machineconfig::KindOf(documents.front()));
  if (!kind.empty() && kind != kRolloutPolicy) return machineconfig::WrongKind(kRolloutPolicy, kind);
  std::vector<std::string> problems;
  CheckSpec(std::as_const(documents.front())["spec"], problems);
  const auto policy = machineconfig::ReadObject<api::RolloutPolicy>(std::move(documents.front()), kRolloutPolicy);
  if (!policy) {
    problems.push_back(policy.error().message());
    return Error(ErrorKind::kInvalid, fmt::format("{}", fmt::join(problems, "; ")));
  }
  const api::RolloutPolicySpec& spec = policy->spec;
  TimeZoneFiles zones;
  LocalWindows read;
  read.windows = pool::Windows::Compile(
      spec.windows, spec.freeze, [&](const std::string& name) { return zones.Find(name); }, problems);
  if (spec.freeze) read.freeze_reason = spec.freeze->reason;
  if (!problems.empty()) return Error(ErrorKind::kInvalid, fmt::format("{}", fmt::join(problems, "; ")));
  return read;
}

}  // namespace

std::string LocalWindows::WhyClosed(WallTime now) const {
  if (windows.IsOpenAt(now)) return "";
  const std::string next = fmt::format("the next window begins at {}", ToRfc3339(windows.Next(now).begin));
  if (!windows.IsFrozenAt(now)) return next;
  const std::string reason = freeze_reason.empty() ? "" : fmt::format(" ({})", Printable(freeze_reason));
  return fmt::format("the freeze{} is not over, and {}", reason, next);
}

Result<LocalWindows> ReadLocalWindows(const std::string& file) {
  struct stat status = {};
  if (::lstat(file.c_str(), &status) != 0 && errno == ENOENT) return LocalWindows();
  return TRY(Read(file), file);
}

}  // namespace pintle::agent
