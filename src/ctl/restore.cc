// SPDX-License-Identifier: Apache-2.0
#include "ctl/restore.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "base/printable.h"
#include "change/apply.h"
#include "change/claim.h"
#include "change/current_config.h"
#include "change/drift.h"
#include "change/original_passwords.h"
#include "ctl/carry_out.h"
#include "ctl/colour.h"
#include "ctl/drift.h"
#include "ctl/named_thing.h"
#include "ctl/plan_text.h"
#include "ctl/policy.h"
#include "ctl/recover.h"
#include "ctl/verbs.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

// Returns the config's steps about these things.  A thing without any step is an error.
Result<std::vector<plan::Step>> StepsAbout(const std::vector<NamedThing>& things, const change::CurrentConfig& config) {
  std::vector<plan::Step> steps = TRY(plan::StepsFor(config, config, {}));
  std::erase_if(steps, [&](const plan::Step& step) { return !AnyCovers(things, step); });
  for (const NamedThing& thing : things) {
    const auto covers = [&](const plan::Step& step) { return thing.Covers(step); };
    if (std::any_of(steps.begin(), steps.end(), covers)) continue;
    if (change::IsNoConfig(config.object)) return Error(ErrorKind::kNotFound, "this machine has no config");
    return Error(ErrorKind::kNotFound,
                 fmt::format("{} has no setting for {}", config.object.metadata.name, Printable(thing.name())));
  }
  return steps;
}

// Restores the things, and returns the outcome.
Result<std::string> RestoreOn(const Machine& machine, const CommandLine& line, const change::CurrentConfig& config,
                              const std::vector<NamedThing>& things, Form form) {
  const auto policy = TRY(PolicyFor(line, machine));
  const std::vector<plan::Step> steps = TRY(StepsAbout(things, config));
  auto findings = TRY(change::FindingsIn(machine.host(), steps));
  std::vector<change::Finding> passwords;
  change::AddLostPasswords(machine.root(), config.ignition, passwords);
  std::copy_if(passwords.begin(), passwords.end(), std::back_inserter(findings), [&](const change::Finding& finding) {
    return std::any_of(things.begin(), things.end(),
                       [&](const NamedThing& thing) { return thing.name() == finding.about; });
  });
  const change::VerifyReport report = TRY(
      change::VerifyReportOf(machine.root(), config, findings, {}, machine.RootOptionText(), PrivateLinesFor(line)));
  if (report.things.empty()) return outcome::kNothingToDo;
  // Only the things that differ are changed and need actions.
  std::vector<NamedThing> changed;
  for (const change::ReportedThing& thing : report.things) changed.emplace_back(thing.about);
  PlanForThings about = MakePlanForThings(changed, config, policy);
  if (!machine.IsRunning()) about.plan.actions.clear();
  if (form == Form::kText) {
    for (const change::ReportedThing& thing : report.things) {
      PrintColoured(Printable(thing.about) + "\n" + DifferenceText(thing), ColourOfDiff);
    }
    if (machine.IsRunning()) Print(ConsequencesText(about.plan, Drains::kNone));
  }
  if (about.plan.Reboots() && !line.Has("--no-reboot") &&
      !TRY(IsConfirmed(line, "Restore what differs, and reboot?"))) {
    return outcome::kDeclined;
  }
  const std::string& name = config.object.metadata.name;
  return CarryOut(machine, line, {.verb = "restore", .from = name, .to = name}, [&](const change::Progress& progress) {
    return change::Restore(
        machine.host(), config, about.plan, [&](const plan::Step& step) { return AnyCovers(changed, step); }, progress);
  });
}

}  // namespace

Result<ExitStatus> Restore(const CommandLine& line) {
  const Form form = FormOf(line);
  if (line.operands().empty()) return Error(ErrorKind::kInvalid, "name paths, units or users, or os");
  const Machine machine = TRY(Machine::Of(line));
  const auto claim = TRY(change::Claim::Take(machine.root(), change::kClaimPatience));
  const RecoveryOutcome recovered = TRY(EndInterruptedChange(machine), "ending what was cut short");
  if (IsUnderWay(recovered)) {
    PrintToStderr("pintle: restore: " + RecoveredText(recovered));
    return ExitStatus::kDiffers;
  }
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(machine.root()));
  const std::string outcome = TRY(RestoreOn(machine, line, config, ThingsIn(line.operands()), form));
  if (form != Form::kText) {
    PrintData({{"config", config.object.metadata.name}, {"outcome", outcome}}, form);
  } else {
    const std::vector<std::string>& words = line.operands();
    const bool is_one = words.size() == 1;
    const std::string result = fmt::format("{} {} as {} wants {}", fmt::join(words, ", "), is_one ? "is" : "are",
                                           config.object.metadata.name, is_one ? "it" : "them");
    Print(OutcomeText(outcome, result, machine.RootOptionText()));
  }
  const bool is_incomplete = outcome == outcome::kRebootPending || outcome == outcome::kDeclined;
  return is_incomplete ? ExitStatus::kDiffers : ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
