// SPDX-License-Identifier: Apache-2.0
#include "change/pivot.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "change/next_boot.h"
#include "change/task_progress.h"
#include "plan/actions.h"
#include "plan/step.h"
#include "resource/deployment.h"

namespace pintle::change {
namespace {

bool Has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Change ChangeFor(const PreparedPivot& pivot) {
  Change change;
  change.from = host::NameOf(pivot.booted);
  change.to = pivot.image.name;
  resource::Deployment::State want;
  want.image = pivot.image.name;
  want.kernel_arguments = pivot.add_arguments;
  change.steps.push_back(resource::Put<resource::Deployment>{{}, std::move(want)});
  api::NodeDisruptionAction reboot;
  reboot.type = plan::action_type::kReboot;
  change.actions.push_back(std::move(reboot));
  return change;
}

NextDeployment NextFor(const PreparedPivot& pivot) {
  NextDeployment next;
  if (!pivot.is_booted) next.wanted.image = pivot.image;
  next.wanted.add_arguments = pivot.add_arguments;
  next.wanted.remove_arguments = pivot.remove_arguments;
  next.wanted.always_new = true;
  return next;
}

}  // namespace

Result<PreparedPivot> Prepare(const host::Host& host, const Pivot& pivot, const Progress& progress) {
  PreparedPivot prepared;
  const auto state = TRY(host.deployments->Observe());
  if (!state.booted) return Error(ErrorKind::kInvalid, "this machine does not run from the deployments on its disk");
  prepared.booted = *state.booted;
  if (pivot.image.empty()) {
    prepared.image = {host::NameOf(prepared.booted), prepared.booted.base_commit};
  } else {
    const TaskProgress task(*host.deployments, progress, fmt::format("fetching {}", pivot.image));
    prepared.image = TRY(host.deployments->Fetch(pivot.image, {}));
  }
  const std::vector<std::string>& have = prepared.booted.kernel_arguments;
  for (const std::string& argument : pivot.add_arguments) {
    if (!Has(have, argument)) prepared.add_arguments.push_back(argument);
  }
  for (const std::string& argument : pivot.remove_arguments) {
    if (Has(have, argument)) prepared.remove_arguments.push_back(argument);
  }
  const std::string& commit = prepared.image.commit;
  // If rpm-ostree has only fetched an image, it reports no commit; then the name alone decides.
  prepared.is_booted = host::IsOfImage(prepared.booted, prepared.image.name) &&
                       (commit.empty() || commit == prepared.booted.base_commit);
  prepared.is_needless = prepared.is_booted && !pivot.even_if_booted && prepared.add_arguments.empty() &&
                         prepared.remove_arguments.empty();
  return prepared;
}

Result<Ending> Apply(const host::Host& host, const plan::ParsedConfig& config, const PreparedPivot& pivot,
                     const Progress& progress) {
  if (pivot.is_needless) return Ending::kNothingToDo;
  const auto stage = [&](host::BlobStore& contents) -> Result<Change> {
    Change change = ChangeFor(pivot);
    TRY(LeaveToNextBoot(host, change));
    TRY(HoldUnchanged(host, contents, config, change));
    TRY(contents.Sync());
    return change;
  };
  return Make(host, {stage, [&]() -> Result<NextDeployment> { return NextFor(pivot); }}, progress);
}

}  // namespace pintle::change
