// SPDX-License-Identifier: Apache-2.0
#include "agent/make_change.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "agent/events.h"
#include "agent/observation.h"
#include "base/log.h"
#include "change/journal.h"
#include "change/records.h"
#include "change/warnings.h"

namespace pintle::agent {
namespace {

// `pintle history` lists the agent's changes under this verb.
constexpr const char* kVerb = "update";

std::string_view OutcomeOf(change::Ending ending) {
  if (ending == change::Ending::kRebootNeeded) return change::outcome::kRebooting;
  return ending == change::Ending::kDone ? change::outcome::kDone : change::outcome::kNothingToDo;
}

// Returns whether the journal still has the failed change to the config `to`.
Result<bool> HasInJournal(const host::ThisMachine& machine, const std::string& to) {
  const change::Pending pending = TRY(change::PendingOn(machine.host()));
  if (pending != change::Pending::kWaitsForReboot) return pending == change::Pending::kCutShort;
  // The change that waits for a reboot may be another program's.  It is not the agent's to recover: the other program
  // reboots the machine.
  const auto waiting = TRY(change::Journal(machine.root()).Read());
  return waiting && waiting->to == to;
}

}  // namespace

MadeChange MakeChange(const host::ThisMachine& machine, const Prepared& prepared, const change::Progress& progress,
                      const std::stop_token& stop) {
  const std::string& to = prepared.to.object.metadata.name;
  const auto inhibitor = machine.power().InhibitShutdown(fmt::format("the change to {} is under way", to));
  if (prepared.is_forced) {
    if (auto removed = machine.root().Remove(kForceFile); !removed) return {std::move(removed).error()};
  }
  const change::ChangeEvent event{kVerb, prepared.from.object.metadata.name, to};
  log::Record(change::RecordOfBegin(event));
  for (const std::string& warning : change::WarningsOf(machine.root(), prepared.from, prepared.to)) {
    log::Warning(warning, kTrouble);
  }
  auto ending = change::Apply(machine.host(), prepared.from, prepared.to, prepared.plan, progress,
                              change::EndsWith::kConfirmation, prepared.left_alone,
                              prepared.is_forced ? change::Edits::kOverwritten : change::Edits::kRefused, stop);
  log::Record(ending ? change::RecordOfEnd(event, OutcomeOf(*ending))
                     : change::RecordOfFailure(event, ending.error().message()));
  if (ending) return {std::move(ending)};
  const auto is_there = HasInJournal(machine, to);
  // A journal that cannot be read counts as one with the change.  The agent then tries to recover, which reports the
  // error.
  return {std::move(ending), !is_there || *is_there};
}

}  // namespace pintle::agent
