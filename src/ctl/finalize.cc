// SPDX-License-Identifier: Apache-2.0
#include "ctl/finalize.h"

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

Result<> FinalizeOnDisk(const Root& root) {
  // At this point of a shutdown, D-Bus is gone.
  host::SystemdOffline systemd(root);
  const auto deployments = TRY(host::OpenOwnDisk());
  const SystemClock clock;
  return change::Finalize({root, systemd, clock, host::Labels::OfThisMachine(), deployments.get()});
}

}  // namespace

Result<ExitStatus> Finalize(const CommandLine& line) {
  if (!line.words().empty()) return Error(ErrorKind::kInvalid, "this verb takes no arguments");
  const Root root = TRY(Root::Open("/"));
  const auto claim = TRY(change::Claim::Take(root, change::kClaimPatience));
  const auto pending = TRY(change::Journal(root).Read());
  if (!pending || !pending->next_boot) return ExitStatus::kFine;
  const auto finalized = FinalizeOnDisk(root);
  if (finalized) return ExitStatus::kFine;
  log::Record(change::RecordOfFailure({.verb = "finalize-staged", .from = pending->from, .to = pending->to},
                                      finalized.error().message()));
  return finalized.error();
}

}  // namespace pintle::ctl
