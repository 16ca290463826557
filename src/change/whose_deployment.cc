// SPDX-License-Identifier: Apache-2.0
#include "change/whose_deployment.h"

#include <fmt/core.h>

namespace pintle::change {

bool IsOfChange(const NextBoot& change, const host::DeployedImage& pending, Rebooted rebooted) {
  // A reboot removes staged deployments, so a deployment that is staged now was not staged for this change.
  if (pending.is_staged && rebooted == Rebooted::kYes) return false;
  if (!change.staged) return pending.id != change.found_pending;
  const bool is_alike =
      pending.commit == change.staged->commit && pending.kernel_arguments == change.staged->kernel_arguments;
  // Finalizing deploys the same commit anew, so the number at the end of the deployment's id changes.
  return is_alike && (!pending.is_staged || pending.id == change.staged->id);
}

Result<> RecordStaged(host::Deployments& deployments, NextBoot& change) {
  const auto state = TRY(deployments.Observe());
  if (!state.pending) return Error(ErrorKind::kSystem, "the deployment that was staged is not there any more");
  change.staged = KnownDeployment{state.pending->id, state.pending->commit, state.pending->kernel_arguments};
  return {};
}

std::string SomeoneElsesText(const host::DeployedImage& deployment) {
  return fmt::format("the deployment {} belongs to someone else, and is still the next one to boot", deployment.id);
}

}  // namespace pintle::change
