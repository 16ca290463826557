// SPDX-License-Identifier: Apache-2.0
#include "ctl/finalize.h"

#include <utility>

#include "base/clock.h"
#include "base/root.h"
#include "change/claim.h"
#include "change/journal.h"
#include "change/next_boot.h"
#include "change/records.h"
#include "ctl/verbs.h"
#include "host/host.h"
#include "host/ostree/deployments_ostree.h"
#include "host/ostree/ostree_module.h"
#include "host/systemd/systemd_offline.h"

namespace pintle::ctl {
namespace {

using Work = Result<>(const host::Host& host);

Result<> RunOnDisk(const Root& root, Work& work) {
  // At this point of a shutdown, D-Bus is gone.
  host::SystemdOffline systemd(root);
  const auto deployments = TRY(host::OpenRunningDisk());
  const SystemClock clock;
  return work({root, systemd, clock, host::Labels::OfThisMachine(), deployments.get()});
}

// Runs the work if a change waits for the next boot.
Result<> RunForChange(const Root& root, Work& work) {
  const auto claim = TRY(change::Claim::Take(root, change::kClaimPatience));
  const auto pending = TRY(change::Journal(root).Read());
  if (!pending || !pending->next_boot) return {};
  auto worked = RunOnDisk(root, work);
  if (worked) return {};
  log::Record(change::RecordOfFailure({.verb = "finalize-staged", .from = pending->from, .to = pending->to},
                                      worked.error().message()));
  return std::move(worked).error();
}

// Returns whether OSTree's own finalizer would complete the staged deployment.
Result<bool> IsLeftToOstree(const Root& root) {
  return TRY(root.Status(host::kStagedDeployment)) && !TRY(root.Status(host::kStagedDeploymentLock));
}

// Returns whether a change waits for the next boot, or may do so because the journal cannot be read.
bool ChangePossiblyWaits(const Root& root) {
  const auto pending = change::Journal(root).Read();
  return !pending || (*pending && (*pending)->next_boot);
}

// Drops the staged deployment if OSTree would complete it without the files of the change.
Result<> DropUnfinalized(const Root& root) {
  if (!TRY(IsLeftToOstree(root)) || !ChangePossiblyWaits(root)) return {};
  auto dropped = RunForChange(root, change::DropUnfinalized);
  if (dropped || !TRY(IsLeftToOstree(root))) return dropped;
  // If dropping has failed, the lock file at least keeps OSTree from completing the deployment.  Writing it needs
  // neither the journal nor the OSTree module of the package pintle-image.
  TRY(root.WriteFile(host::kStagedDeploymentLock, ""), "keeping OSTree from finalizing the staged deployment");
  return std::move(dropped).error();
}

}  // namespace

Result<ExitStatus> Finalize(const CommandLine& line) {
  if (!line.operands().empty()) return Error(ErrorKind::kInvalid, "this verb takes no arguments");
  const Root root = TRY(Root::Open("/"));
  TRY(line.Has("--drop") ? DropUnfinalized(root) : RunForChange(root, change::Finalize));
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
