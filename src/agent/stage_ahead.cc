// SPDX-License-Identifier: Apache-2.0
#include "agent/stage_ahead.h"

#include <fmt/core.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "agent/staging.h"
#include "agent/survey.h"
#include "change/apply.h"
#include "change/claim.h"
#include "change/staged_image.h"

namespace pintle::agent {
namespace {

// Runs `job` with the claim held.
Result<StagingEnd> WithClaim(const host::ThisMachine& machine, const std::function<Result<>()>& job) {
  const auto claim = change::Claim::Take(machine.root());
  if (!claim && claim.error().kind() == ErrorKind::kConflict) return StagingEnd::kBusy;
  if (!claim) return claim.error();
  TRY(job());
  return StagingEnd::kDone;
}

// Plans the change.  If the change fetches an image, records the image, before its first byte is fetched.
Result<std::shared_ptr<const Prepared>> PlanAhead(const host::ThisMachine& machine, const SurveyRequest& request,
                                                  const Goal& goal) {
  const host::Host host = machine.host();
  auto change = TRY(ChangeToStage(SurveyOf(TRY(Observe(host, request)), goal, host.clock.Wall())));
  if (change != nullptr && change::WantsImage(change->plan)) {
    TRY(change::KeepStagedImage(machine.root(), change::StagedImage{goal.config, goal.image}));
  }
  return change;
}

change::Edits EditsOf(const Prepared& change) {
  return change.is_forced ? change::Edits::kOverwritten : change::Edits::kRefused;
}

}  // namespace

Result<StagingEnd> StageAhead(const host::ThisMachine& machine, const SurveyRequest& request, const Goal& goal,
                              const std::stop_token& stop) {
  std::shared_ptr<const Prepared> change;
  const auto planned = TRY(WithClaim(machine, [&]() -> Result<> {
    change = TRY(PlanAhead(machine, request, goal));
    return {};
  }));
  if (planned == StagingEnd::kBusy || change == nullptr) return planned;
  TRY(change::FetchAhead(machine.host(), change->from, change->to, change->plan, stop));
  if (stop.stop_requested()) return Error(ErrorKind::kCancelled, "the staging was stopped");
  // The files are checked last, since the image takes space on the same disk.
  return WithClaim(machine, [&] {
    return change::Rehearse(machine.host(), change->from, change->to, change->plan, change->left_alone,
                            EditsOf(*change));
  });
}

Result<StagingEnd> RemoveStaged(const host::ThisMachine& machine) {
  return WithClaim(machine, [&]() -> Result<> {
    if (host::Deployments* const deployments = machine.host().deployments) TRY(deployments->Prune());
    return change::KeepStagedImage(machine.root(), std::nullopt);
  });
}

Result<StagingEnd> RemoveUnneeded(const host::ThisMachine& machine) {
  host::Deployments* const deployments = machine.host().deployments;
  // Most often there is nothing to remove, and then the claim is not needed.
  if (deployments == nullptr || !TRY(deployments->HasUnneededImages())) return StagingEnd::kDone;
  return WithClaim(machine, [&] { return deployments->Prune(); });
}

Result<StagingEnd> ForgetStaged(const host::ThisMachine& machine) {
  return WithClaim(machine, [&] { return change::KeepStagedImage(machine.root(), std::nullopt); });
}

}  // namespace pintle::agent
