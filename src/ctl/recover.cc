// SPDX-License-Identifier: Apache-2.0
#include "ctl/recover.h"

#include <fmt/core.h>

#include <memory>
#include <string_view>

#include "base/output.h"
#include "base/printable.h"
#include "change/act.h"
#include "change/claim.h"
#include "change/early.h"
#include "change/journal.h"
#include "change/records.h"
#include "ctl/progress.h"
#include "ctl/set_aside.h"
#include "ctl/verbs.h"
#include "host/ostree/ostree_module.h"
#include "host/systemd/systemd_dbus.h"
#include "host/systemd/systemd_offline.h"
#include "json/parse.h"

namespace pintle::ctl {

bool WaitsForReboot(const RecoveryOutcome& recovered) {
  return recovered.how == change::Recovery::kRebootNeeded || recovered.how == change::Recovery::kRebootNeededToUndo;
}

bool IsUnderWay(const RecoveryOutcome& recovered) {
  return WaitsForReboot(recovered) || recovered.how == change::Recovery::kToBeConfirmed;
}

Result<RecoveryOutcome> EndInterruptedChange(const Machine& machine, Direction direction) {
  const auto pending = TRY(change::Journal(machine.root()).Read());
  if (!pending) return RecoveryOutcome();
  const auto inhibitor = machine.InhibitShutdown("a change of this machine was cut short and is being ended");
  const change::ChangeEvent event{.verb = "recover", .from = pending->from, .to = pending->to};
  const auto end = [&] {
    // This object is destroyed when the recovery has ended, so its line is erased before the caller prints.
    ProgressLines progress;
    return direction == Direction::kUndo ? change::GiveUp(machine.host(), progress.progress())
                                         : change::Recover(machine.host(), progress.progress());
  };
  const auto ended = end();
  if (!ended) {
    if (machine.IsRunning()) log::Record(change::RecordOfFailure(event, ended.error().message()));
    return ended.error();
  }
  RecoveryOutcome recovered{.how = ended->how, .reason = ended->reason, .from = pending->from, .to = pending->to};
  // A machine that is not running has no service that was started with the new files, so it needs no reboot.
  const bool is_undone = !machine.IsRunning() && recovered.how == change::Recovery::kRebootNeededToUndo;
  if (is_undone) recovered.how = change::Recovery::kUndone;
  if (machine.IsRunning() && !IsUnderWay(recovered)) {
    log::Record(change::RecordOfRecovery(event, *ended));
  }
  return recovered;
}

std::string RecoveredText(const RecoveryOutcome& recovered) {
  const std::string subject = Printable(fmt::format("The change from {} to {}", recovered.from, recovered.to));
  const std::string details = Printable(change::WithDetails(recovered.reason));
  switch (recovered.how) {
    case change::Recovery::kNothingToDo:
      return "Nothing was cut short.\n";
    case change::Recovery::kUndone:
      return details.empty() ? subject + " was cut short; it is undone.\n"
                             : fmt::format("{} is undone{}.\n", subject, details);
    case change::Recovery::kFinished:
      return subject + " is finished.\n";
    case change::Recovery::kToBeConfirmed:
      return subject + " is in effect, and ends when pintled finds the machine well.\n";
    case change::Recovery::kRebootNeeded:
      return subject + " waits for a reboot.\n";
    case change::Recovery::kRebootNeededToUndo:
      return fmt::format("{} is undone with a reboot{}.\n", subject, details);
  }
  return "";
}

std::string PendingText(const change::Change& pending, const Machine& machine) {
  const std::string root_option = machine.RootOptionText();
  if (pending.phase == change::Phase::kApplied && pending.awaits_confirmation) {
    return fmt::format(
        "pintled makes the change to {}, and ends it when the machine has rebooted and is well; "
        "`pintle recover{} --give-up` undoes it",
        pending.to, root_option);
  }
  if (pending.phase == change::Phase::kApplied && change::HasReboot(pending.actions)) {
    return fmt::format(
        "the change to {} ends with a reboot, and `pintle recover{}` after it; `pintle recover{} --give-up` "
        "undoes it",
        pending.to, root_option, root_option);
  }
  return fmt::format("the change to {} was cut short; `pintle recover{}` ends it", pending.to, root_option);
}

namespace {

// Puts the files of a change in place early in a boot, when neither the system bus nor rpm-ostree answers.  At this
// time systemd is reached over its private socket.
Result<ExitStatus> RecoverFiles(const CommandLine& line) {
  for (const char* other : {"--give-up", "--reboot", "--set-aside", "--root", "-o"}) {
    if (line.Has(other)) return Error(ErrorKind::kInvalid, fmt::format("--files cannot be combined with {}", other));
  }
  const Root root = TRY(Root::Open("/"));
  const auto claim = TRY(change::Claim::Take(root, change::kClaimPatience));
  host::SystemdOffline systemd(root);
  std::unique_ptr<host::Deployments> deployments;
  if (TRY(root.Status("/run/ostree-booted"))) deployments = TRY(host::OpenRunningDisk());
  const SystemClock clock;
  const auto change =
      TRY(change::PutFilesEarly({root, systemd, clock, host::Labels::OfThisMachine(), deployments.get()}));
  if (!change) {
    Print("No change that was cut short has files to put back.\n");
    return ExitStatus::kSuccess;
  }
  Print(fmt::format("The files of the change from {} to {} are in place; pintle-recover.service does the rest.\n",
                    Printable(change->from), Printable(change->to)));
  if (change::ChangesSystemd(change->steps)) TRY(host::SystemdDbus(root).QueueBootAgain(change::UnitsOf(*change)));
  return ExitStatus::kSuccess;
}

}  // namespace

Result<ExitStatus> Recover(const CommandLine& line) {
  const Form form = FormOf(line);
  if (!line.operands().empty()) return Error(ErrorKind::kInvalid, "this verb takes no arguments");
  if (line.Has("--files")) return RecoverFiles(line);
  if (line.Has("--set-aside")) return SetAside(line);
  const Machine machine = TRY(Machine::Of(line));
  const auto claim = TRY(change::Claim::Take(machine.root(), change::kClaimPatience));
  const auto direction = line.Has("--give-up") ? Direction::kUndo : Direction::kRecover;
  const RecoveryOutcome recovered = TRY(EndInterruptedChange(machine, direction));
  if (form != Form::kText) {
    const json::Value answer = {{"outcome", change::OutcomeOf(recovered.how)},
                                {"reason", recovered.reason},
                                {"from", recovered.from},
                                {"to", recovered.to}};
    PrintData(answer, form);
  } else {
    Print(RecoveredText(recovered));
  }
  if (!WaitsForReboot(recovered)) return ExitStatus::kSuccess;
  const bool reboots = line.Has("--reboot") && machine.IsRunning();
  if (reboots) TRY(machine.Reboot(fmt::format("the change to {} needs it", recovered.to)));
  return ExitStatus::kDiffers;
}

}  // namespace pintle::ctl
