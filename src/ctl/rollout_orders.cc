// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout_orders.h"

#include <fmt/core.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "base/first_characters.h"
#include "base/output.h"
#include "base/printable.h"
#include "controller/watched.h"
#include "ctl/environment.h"
#include "ctl/rollout_situation.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/waved_rollout.h"

namespace pintle::ctl {
namespace {

Result<std::string> PoolIn(const CommandLine& line) {
  if (line.operands().size() != 1) return Error(ErrorKind::kInvalid, "name one pool, such as worker");
  return std::string(line.operands().front());
}

// Returns the status that a RolloutPolicy reports for the pool.
Result<api::RolloutPoolStatus> StatusOfPool(LiveCluster& cluster, const std::string& pool) {
  for (const api::RolloutPolicy& policy : TRY(cluster.All<api::RolloutPolicy>(), "reading RolloutPolicies")) {
    if (const api::RolloutPoolStatus* const status = PoolStatusIn(policy, pool)) return *status;
  }
  return Error(ErrorKind::kInvalid,
               fmt::format("no RolloutPolicy reports about pool {}; `kubectl get rolloutpolicies` lists them", pool));
}

// A longer name of a user is cut off, because the controller ignores long orders.
constexpr std::size_t kLongestUser = 64;  // In characters.

// Returns the author of an order.  A name that the API server has not authenticated is marked, since anybody can set
// $USER.
Result<std::string> AuthorOfOrder(LiveCluster& cluster) {
  const auto name = TRY(cluster.AuthenticatedUser());
  if (name) return FirstCharacters(Printable(*name), kLongestUser);
  const std::string_view user = FromEnvironment("USER");
  if (user.empty()) return "somebody";
  return FirstCharacters(Printable(user), kLongestUser) + " ($USER)";
}

// Writes an order for the target that the pool has now.
Result<> Order(LiveCluster& cluster, const api::MachineConfigPool& pool, std::string_view annotation,
               api::RolloutOrder order) {
  order.target = pool.spec.configuration.name;
  order.by = TRY(AuthorOfOrder(cluster));
  order.at = ToRfc3339(SystemClock().Wall());
  json::Value patch;
  patch["metadata"]["annotations"][annotation] = TRY(TextOfOrder(order));
  TRY(cluster.Patch<api::MachineConfigPool>(pool.metadata.name, std::move(patch)), "annotating the pool");
  return {};
}

// Returns an error unless the policy's status is about the pool's newest config.  An order must be for the rollout that
// its author has seen, and perhaps the controller has not begun with that config yet.
Result<> ExpectReportOn(const api::MachineConfigPool& pool, const api::RolloutPoolStatus& status) {
  const std::string& target = status.memory.target;  // The config, followed by the image if there is one.
  if (target.substr(0, target.find(' ')) == pool.spec.configuration.name) return {};
  return Error(
      ErrorKind::kConflict,
      fmt::format("pool {} has the new target {}, but its policy still reports the rollout of {}; try again when "
                  "the controller has begun with the new config",
                  status.name, pool.spec.configuration.name, target.empty() ? "no config" : Printable(target)));
}

Error WrongPhase(const api::RolloutPoolStatus& status, std::string_view fault) {
  return Error(ErrorKind::kInvalid, fmt::format("the rollout of pool {} {}; it is {}: {}", status.name, fault,
                                                Printable(status.phase), Printable(status.message)));
}

// The controller cuts off a longer reason.
constexpr std::size_t kLongestReason = 512;  // In characters.

}  // namespace

Result<std::string> TextOfOrder(const api::RolloutOrder& order) {
  std::string text = json::ToText(json::Encode(order));
  if (text.size() <= pool::kLongestOrder) return text;
  return Error(ErrorKind::kInvalid,
               fmt::format("the order has {} bytes as JSON, of which the controller reads at most {}; write a shorter "
                           "--reason, or one without control characters",
                           text.size(), pool::kLongestOrder));
}

Result<ExitStatus> ApproveWave(const CommandLine& line) {
  const std::string name = TRY(PoolIn(line));
  LiveCluster cluster = TRY(LiveCluster::Of(line));
  const auto pool = TRY(cluster.Get<api::MachineConfigPool>(name));
  const api::RolloutPoolStatus status = TRY(StatusOfPool(cluster, name));
  TRY(ExpectReportOn(pool, status));
  if (status.phase != "AwaitingApproval") return WrongPhase(status, "waits for no approval");
  if (status.wave_digest.empty()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("the policy's status does not identify wave {} of pool {}; apply deploy/crds of this "
                             "version, and update the controller",
                             status.wave, name));
  }
  api::RolloutOrder order;
  order.wave_digest = status.wave_digest;
  order.wave = status.wave;
  order.began = status.memory.began;
  TRY(Order(cluster, pool, api::kApproveAnnotation, std::move(order)));
  Print(fmt::format("Wave {} of {} of pool {} may begin with {}.\n", status.wave, status.waves, Printable(name),
                    Printable(pool.spec.configuration.name)));
  return ExitStatus::kSuccess;
}

Result<ExitStatus> ResumeRollout(const CommandLine& line) {
  const std::string name = TRY(PoolIn(line));
  LiveCluster cluster = TRY(LiveCluster::Of(line));
  const auto pool = TRY(cluster.Get<api::MachineConfigPool>(name));
  const api::RolloutPoolStatus status = TRY(StatusOfPool(cluster, name));
  TRY(ExpectReportOn(pool, status));
  if (!status.memory.halt) return WrongPhase(status, "is not halted");
  api::RolloutOrder order;
  order.began = status.memory.began;
  TRY(Order(cluster, pool, api::kResumeAnnotation, std::move(order)));
  Print(fmt::format("The rollout of {} to pool {} goes on.  It was halted: {}\n",
                    Printable(pool.spec.configuration.name), Printable(name), Printable(status.memory.halt->message)));
  return ExitStatus::kSuccess;
}

Result<ExitStatus> OverrideWindows(const CommandLine& line) {
  const std::string name = TRY(PoolIn(line));
  api::RolloutOrder order;
  order.reason = TRY(line.Needed("--reason"));
  if (FirstCharacters(order.reason, kLongestReason) != order.reason) {
    return Error(ErrorKind::kInvalid, fmt::format("--reason: write a text of at most {} characters", kLongestReason));
  }
  LiveCluster cluster = TRY(LiveCluster::Of(line));
  const auto pool = TRY(cluster.Get<api::MachineConfigPool>(name));
  const api::RolloutPoolStatus status = TRY(StatusOfPool(cluster, name));
  TRY(ExpectReportOn(pool, status));
  order.began = status.memory.began;
  TRY(Order(cluster, pool, api::kOverrideAnnotation, std::move(order)));
  Print(fmt::format("The windows and the freeze of its policy do not apply while pool {} gets {}.\n", Printable(name),
                    Printable(pool.spec.configuration.name)));
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
