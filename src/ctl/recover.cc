// SPDX-License-Identifier: Apache-2.0
#include "ctl/recover.h"

#include <fmt/core.h>

#include <string_view>

#include "change/act.h"
#include "change/claim.h"
#include "change/journal.h"
#include "ctl/events.h"
#include "ctl/output.h"
#include "ctl/verbs.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

std::string_view OutcomeOf(change::Recovery how) {
  switch (how) {
    case change::Recovery::kNothingToDo:
      return "nothing to do";
    case change::Recovery::kUndone:
      return "undone";
    case change::Recovery::kFinished:
      return "finished";
    case change::Recovery::kRebootNeeded:
      return "reboot pending";
  }
  return "";
}

}  // namespace

Result<Recovered> EndWhatWasCutShort(const Machine& machine, ProgressLines& progress) {
  const auto pending = TRY(change::Journal(machine.root()).Read());
  if (!pending) return Recovered();
  const auto inhibitor = machine.KeepUp("a change of this machine was cut short and is being ended");
  const ChangeEvent event{.verb = "recover", .from = pending->from, .to = pending->to};
  const auto how = change::Recover(machine.host(), progress.progress());
  if (!how) {
    if (machine.IsRunning()) RecordFailure(event, how.error().message());
    return how.error();
  }
  const bool has_ended = *how != change::Recovery::kRebootNeeded;
  if (machine.IsRunning() && has_ended) RecordRecovery(event, std::string(OutcomeOf(*how)));
  return Recovered{.how = *how, .from = pending->from, .to = pending->to};
}

std::string RecoveredText(const Recovered& recovered) {
  switch (recovered.how) {
    case change::Recovery::kNothingToDo:
      return "Nothing was cut short.\n";
    case change::Recovery::kUndone:
      return fmt::format("The change from {} to {} was cut short; it is undone.\n", recovered.from, recovered.to);
    case change::Recovery::kFinished:
      return fmt::format("The change from {} to {} was cut short; it is finished.\n", recovered.from, recovered.to);
    case change::Recovery::kRebootNeeded:
      return fmt::format("The change from {} to {} waits for a reboot.\n", recovered.from, recovered.to);
  }
  return "";
}

std::string PendingText(const change::Change& pending, const Machine& machine) {
  if (pending.phase == change::Phase::kApplied && change::HasReboot(pending.actions)) {
    return fmt::format("the change to {} ends with a reboot, and `pintle recover` after it", pending.to);
  }
  return fmt::format("the change to {} was cut short; `pintle recover{}` ends it", pending.to, machine.RootWords());
}

Result<ExitStatus> Recover(const CommandLine& line) {
  const bool wants_json = TRY(WantsJson(line));
  if (!line.words().empty()) return Error(ErrorKind::kInvalid, "it takes no words");
  const Machine machine = TRY(Machine::Of(line));
  const auto claim = TRY(change::Claim::Take(machine.root()));
  ProgressLines progress;
  const Recovered recovered = TRY(EndWhatWasCutShort(machine, progress));
  if (wants_json) {
    const json::Value answer = {{"outcome", OutcomeOf(recovered.how)}, {"from", recovered.from}, {"to", recovered.to}};
    Print(json::ToIndentedText(answer) + "\n");
  } else {
    Print(RecoveredText(recovered));
  }
  return recovered.how == change::Recovery::kRebootNeeded ? ExitStatus::kDiffers : ExitStatus::kFine;
}

}  // namespace pintle::ctl
