// SPDX-License-Identifier: Apache-2.0
#include "ctl/carry_out.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "base/output.h"
#include "base/printable.h"
#include "change/journal.h"
#include "ctl/progress.h"

namespace pintle::ctl {
namespace {

// Reads a line from the terminal, and returns its first character, or EOF at the end of input.
int FirstOfLine() {
  const int first = std::getchar();
  for (int next = first; next != '\n' && next != EOF;) next = std::getchar();
  return first;
}

// Adds to an error whether the change has been undone.
Error WithAftermath(const Error& error, const Machine& machine) {
  const auto pending = change::Journal(machine.root()).Read();
  const bool is_undone = pending && !*pending;
  const std::string result = is_undone ? "this machine is as it was before"
                                       : fmt::format("the change could not be undone; `pintle recover{}` tries again",
                                                     machine.RootOptionText());
  return Error(error.kind(), fmt::format("{}; {}", error.message(), result));
}

}  // namespace

Result<bool> IsConfirmed(const CommandLine& line, std::string_view question) {
  if (line.Has("--yes")) return true;
  if (::isatty(STDIN_FILENO) != 1) {
    return Error(ErrorKind::kInvalid, "there is no terminal to ask at; use --yes to go on without asking");
  }
  FlushOutput();  // The text above the question has to be printed first.
  PrintToStderr(fmt::format("{} [y/N] ", question));
  const int answer = FirstOfLine();
  return answer == 'y' || answer == 'Y';
}

Result<std::string> CarryOut(const Machine& machine, const CommandLine& line, const change::ChangeEvent& event,
                             const std::function<Result<change::Ending>(const change::Progress&)>& make_change) {
  return CarryOut(machine, line.Has("--no-reboot") ? AndThen::kLeaveReboot : AndThen::kReboot, event, make_change);
}

Result<std::string> CarryOut(const Machine& machine, AndThen then, const change::ChangeEvent& event,
                             const std::function<Result<change::Ending>(const change::Progress&)>& make_change) {
  const auto run = [&]() -> Result<change::Ending> {
    const auto inhibitor = machine.InhibitShutdown(fmt::format("{} of {} is under way", event.verb, event.to));
    ProgressLines progress;
    if (machine.IsRunning()) log::Record(change::RecordOfBegin(event));
    return make_change(progress.progress());
  };
  const auto ending = run();
  if (!ending) {
    Error error = WithAftermath(ending.error(), machine);
    if (machine.IsRunning()) log::Record(change::RecordOfFailure(event, error.message()));
    return error;
  }
  const auto record_end = [&](const char* outcome) {
    if (machine.IsRunning()) log::Record(change::RecordOfEnd(event, outcome));
    return outcome;
  };
  if (*ending == change::Ending::kNothingToDo) return record_end(outcome::kNothingToDo);
  if (*ending == change::Ending::kDone) return record_end(outcome::kDone);
  if (then == AndThen::kLeaveReboot || !machine.IsRunning()) return record_end(outcome::kRebootPending);
  log::Record(change::RecordOfEnd(event, outcome::kRebooting));
  TRY(machine.Reboot(fmt::format("{} of {} needs it", event.verb, event.to)),
      "the change is in place, but the reboot that it needs has failed");
  return outcome::kRebooting;
}

std::string OutcomeText(std::string_view outcome, std::string_view result, std::string_view root_option) {
  const std::string shown = Printable(result);
  if (outcome == outcome::kNothingToDo) return fmt::format("Nothing to do: {}.\n", shown);
  if (outcome == outcome::kDone) return fmt::format("Done: {}.\n", shown);
  if (outcome == outcome::kRebooting) return fmt::format("Rebooting: after that, {}.\n", shown);
  if (outcome == outcome::kRebootPending) {
    return fmt::format("A reboot is pending: after that, {}.  `pintle recover{} --give-up` undoes the change.\n", shown,
                       root_option);
  }
  return "Nothing was changed.\n";
}

}  // namespace pintle::ctl
