// SPDX-License-Identifier: Apache-2.0
#include "agent/survey.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "agent/warnings.h"
#include "base/printable.h"
#include "change/names.h"
#include "json/fields.h"
#include "json/parse.h"
#include "plan/actions.h"

namespace pintle::agent {
namespace {

// Returns the outlook while the journal has a change; nothing else counts then.
Outlook OutlookOn(change::Pending pending) {
  if (pending == change::Pending::kCutShort) return {.is_cut_short = true};
  return {.waits =
              "a change of this machine waits for a reboot: reboot it, or give the change up with `pintle "
              "recover --give-up`"};
}

// Returns the config that the machine is to have.
const change::CurrentConfig& WantedIn(const Observation& seen) { return seen.to ? *seen.to : seen.current; }

// ---- findings -------------------------------------------------------------------------------------------------------

Survey WithFindings(Survey survey, const change::VerifyReport& report) {
  survey.findings = report.count();
  survey.findings_text = json::ToIndentedText(json::Encode(report)) + "\n";
  return survey;
}

// Explains why ignored findings count after all.
std::string IgnoredText(const std::vector<change::Finding>& lost, const change::Ignored& ignored, const Goal& wanted) {
  std::string text;
  for (const change::Finding& finding : lost) {
    if (!change::IgnoredUntil(ignored, finding.about)) continue;
    text += fmt::format("; {} is ignored, but {} changes it: `pintle restore {}` puts it back first", finding.about,
                        wanted.config, ShellOperand(finding.about));
  }
  return text;
}

// Reports as drift the edits that a change to another config would overwrite.  An edit of an ignored thing also counts
// if the other config changes the thing.
Survey WithLosses(Survey survey, const Observation& seen, const change::Things& left_alone) {
  std::vector<change::Finding> lost = seen.losses;
  std::erase_if(lost, [&](const change::Finding& finding) { return left_alone.contains(finding.about); });
  if (lost.empty()) return survey;
  survey.outlook.drift =
      change::TextOf(lost, GoalOf(seen.current).config) + IgnoredText(lost, seen.ignored, GoalOf(WantedIn(seen)));
  change::Ignored ignored = seen.ignored;
  std::erase_if(ignored, [&](const change::IgnoredThing& thing) {
    return std::any_of(lost.begin(), lost.end(),
                       [&](const auto& finding) { return change::IgnoredUntil({thing}, finding.about).has_value(); });
  });
  return WithFindings(std::move(survey), change::MarkIgnored(seen.report, ignored));
}

// ---- plans ----------------------------------------------------------------------------------------------------------

struct PlanOutcome {
  std::string why_unreconcilable = {};
  std::shared_ptr<Prepared> prepared = {};  // Null if the change is unreconcilable.
};

// Words the error as the Machine Config Operator does.
std::string UnreconcilableText(const Prepared& prepared) {
  const std::string& old_name = prepared.from.object.metadata.name;
  const std::string& new_name = prepared.to.object.metadata.name;
  return fmt::format("can't reconcile config {} with {}: configs {}, {} are not reconcilable: {}", old_name, new_name,
                     old_name, new_name, prepared.plan.verdict.text);
}

// Makes the plan drain and reboot the machine, because kForceFile asks for that.
void Force(plan::Plan& plan) {
  const std::string reason = fmt::format("{} exists", kForceFile);
  plan::Action reboot;
  reboot.what.type = plan::action_type::kReboot;
  reboot.reasons = {reason};
  plan.actions = {std::move(reboot)};
  plan.drain = {true, reason, std::nullopt};
}

Result<PlanOutcome> PlanChange(Observation seen, change::Things left_alone) {
  // As in the Machine Config Operator, a new machine is not drained for the OS of its first config, because it is not
  // ready for pods yet.
  const bool needs_no_drain = seen.IsNewWithAnotherOs() && !seen.to;
  change::CurrentConfig to = seen.to ? *std::move(seen.to) : seen.current;
  auto prepared = std::make_shared<Prepared>(Prepared{std::move(seen.current), std::move(to), {}});
  // If a new machine was installed with another OS than its first config wants, that is not drift: the change to the
  // wanted OS starts from the booted one.
  if (seen.as_booted) prepared->from.object = *std::move(seen.as_booted);
  change::CopyUnsupportedParts(seen.abilities, {.from = prepared->to.object, .to = prepared->from.object});
  prepared->plan = plan::Make(prepared->from, prepared->to, seen.policy, seen.overrides);
  plan::Plan& plan = prepared->plan;
  if (!plan.IsReconcilable()) return PlanOutcome{.why_unreconcilable = UnreconcilableText(*prepared)};
  TRY(change::CheckNames(prepared->to.ignition));
  TRY(change::CheckAbleTo(seen.abilities, plan.difference));
  if (plan.drain.error) return Error(ErrorKind::kInvalid, *plan.drain.error);
  for (const plan::Action& action : plan.actions) TRY(plan::ExpectKnownActions({&action.what, 1}));
  plan.writers = prepared->to.writers;
  left_alone.merge(seen.written_by_source);
  prepared->left_alone = std::move(left_alone);
  prepared->is_forced = seen.is_forced;
  if (seen.is_forced) Force(plan);
  if (needs_no_drain) plan.drain = {};
  return PlanOutcome{.prepared = std::move(prepared)};
}

Survey WithPlan(Survey survey, Observation seen, change::Things left_alone) {
  if (seen.names_goal) survey.policy = seen.policy;
  Result<PlanOutcome> planned = PlanChange(std::move(seen), std::move(left_alone));
  if (!planned) {
    survey.failure = planned.error();
    return survey;
  }
  survey.outlook.why_unreconcilable = std::move(planned->why_unreconcilable);
  survey.outlook.drains = planned->prepared && planned->prepared->plan.drain.is_needed;
  survey.prepared = std::move(planned->prepared);
  return survey;
}

}  // namespace

Survey SurveyOf(Observation seen, const Goal& goal, WallTime now) {
  if (seen.pending != change::Pending::kNone) return {.outlook = OutlookOn(seen.pending)};
  std::erase_if(seen.ignored, [&](const change::IgnoredThing& thing) { return thing.until <= now; });
  const change::VerifyReport report = change::MarkIgnored(seen.report, seen.ignored);
  const Goal current = GoalOf(seen.current);
  Survey survey = WithFindings({.current = seen.is_assumed ? std::nullopt : std::optional(current),
                                .warnings = WarningsOf(seen.ignored),
                                .ignoring_ends = change::FirstEnd(seen.ignored),
                                .left_aside = change::UnsupportedPartsText(seen.abilities, seen.current.object.spec),
                                .paths = plan::PathsOf(seen.current.ignition)},
                               report);
  if (seen.IsNewWithAnotherOs()) return WithPlan(std::move(survey), std::move(seen), {});
  // A config that is only assumed is not on the disk yet, so a change has to write it.
  const bool has_wanted_config = !seen.to && (seen.is_on_disk || change::IsNoConfig(seen.current.object));
  if (has_wanted_config && report.text.empty()) {
    survey.outlook.has_goal = current == goal;
    survey.outlook.is_outdated = current != goal;
    return survey;
  }
  change::Things left_alone = seen.out_of_reach;
  if (!seen.is_forced) {
    auto ignored_by_both = change::LeftAlone(seen.ignored, seen.current, WantedIn(seen));
    if (!ignored_by_both) {
      survey.failure = ignored_by_both.error();
      return survey;
    }
    left_alone.merge(*ignored_by_both);
    if (!seen.to) survey.outlook.drift = report.text;
    if (seen.to) survey = WithLosses(std::move(survey), seen, left_alone);
    if (!survey.outlook.drift.empty()) return survey;
  }
  return WithPlan(std::move(survey), std::move(seen), std::move(left_alone));
}

}  // namespace pintle::agent
