// SPDX-License-Identifier: Apache-2.0
#include "agent/recovery.h"

#include <functional>

#include "agent/observation.h"
#include "base/log.h"
#include "change/journal.h"
#include "change/records.h"
#include "change/rejected.h"

namespace pintle::agent {
namespace {

using PendingChange = std::optional<change::Change>;

void RecordRecovery(const PendingChange& pending, const change::Recovered& recovered) {
  using enum change::Recovery;
  if (!pending || (recovered.how != kFinished && recovered.how != kUndone)) return;
  log::Record(change::RecordOfRecovery({"recover", pending->from, pending->to}, recovered));
}

// Returns the event for Advance() that stands for the outcome of a recovery.
happened::Recovered EventOf(const change::Recovered& recovered, const PendingChange& pending) {
  using How = happened::Recovered::How;
  happened::Recovered event;
  if (pending) event.goal = Goal{pending->to, pending->to_image};
  switch (recovered.how) {
    case change::Recovery::kNothingToDo:
    case change::Recovery::kFinished:
      event.how = How::kEnded;
      break;
    case change::Recovery::kUndone:
      event.how = How::kUndone;
      break;
    case change::Recovery::kToBeConfirmed:
      event.how = How::kToBeConfirmed;
      break;
    case change::Recovery::kRebootNeeded:
    case change::Recovery::kRebootNeededToUndo:
      event.undoes = recovered.how == change::Recovery::kRebootNeededToUndo;
      event.how = How::kRebootNeeded;
      break;
  }
  return event;
}

std::optional<Rejection> ToRejection(const std::optional<change::Rejected>& rejected) {
  if (!rejected) return std::nullopt;
  return Rejection{{rejected->config, rejected->image}, rejected->why};
}

Result<RecoveryResult> ResultOf(const host::ThisMachine& machine,
                                const std::function<Result<change::Recovered>()>& recover) {
  const PendingChange pending = TRY(change::Journal(machine.root()).Read());
  const change::Recovered recovered = TRY(recover());
  RecordRecovery(pending, recovered);
  RecoveryResult result;
  result.recovered = EventOf(recovered, pending);
  result.rejected = ToRejection(TRY(change::ReadRejected(machine.root())));
  result.current = TRY(CurrentGoal(machine.root()));
  return result;
}

}  // namespace

Result<RecoveryResult> EndInterruptedChange(const host::ThisMachine& machine, const change::Progress& progress) {
  return ResultOf(machine, [&] { return change::Recover(machine.host(), progress); });
}

Result<RecoveryResult> UndoUnhealthyChange(const host::ThisMachine& machine, const change::Progress& progress,
                                           const std::string& why) {
  return ResultOf(machine, [&] { return change::GiveUp(machine.host(), progress, why); });
}

Result<> ConfirmChange(const host::ThisMachine& machine) {
  const PendingChange pending = TRY(change::Journal(machine.root()).Read());
  TRY(change::Confirm(machine.host()));
  RecordRecovery(pending, {change::Recovery::kFinished, ""});
  return {};
}

}  // namespace pintle::agent
