// SPDX-License-Identifier: Apache-2.0
#include "agent/survey.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "agent/events.h"
#include "agent/initial_annotations.h"
#include "base/log.h"
#include "base/printable.h"
#include "change/abilities.h"
#include "change/apply.h"
#include "change/as_booted.h"
#include "change/findings.h"
#include "change/image_mode.h"
#include "change/kept_policy.h"
#include "change/names.h"
#include "json/parse.h"
#include "plan/actions.h"

namespace pintle::agent {
namespace {

struct Current {
  change::CurrentConfig config;
  bool is_kept = false;  // The config is on the disk.
};

// Returns whether `kept` is the config that a new machine keeps from its first boot: one without files, units and
// users, which only the cluster has.
Result<bool> IsOfFirstBoot(const Root& root, const change::CurrentConfig& kept) {
  const ignition::Config& parts = kept.ignition;
  const bool is_bare = plan::PathsOf(parts).empty() && parts.systemd.units.empty() && parts.passwd.users.empty();
  return is_bare && TRY(IsNewToCluster(root));
}

Result<Current> CurrentOf(const host::Host& host, const SurveyRequest& request) {
  change::CurrentConfig current = TRY(change::ReadCurrentConfig(host.root));
  const bool is_enough = !request.assumed || !TRY(IsOfFirstBoot(host.root, current));
  if (!change::IsNoConfig(current.object) && is_enough) return Current{std::move(current), true};
  if (!request.assumed) return Current{std::move(current), false};
  return Current{TRY(request.assumed->read()), false};
}

// Words the error as the Machine Config Operator does.
std::string Unreconcilable(const change::CurrentConfig& from, const change::CurrentConfig& to, const std::string& why) {
  const std::string& old_name = from.object.metadata.name;
  const std::string& new_name = to.object.metadata.name;
  return fmt::format("can't reconcile config {} with {}: configs {}, {} are not reconcilable: {}", old_name, new_name,
                     old_name, new_name, why);
}

void Force(plan::Plan& plan) {
  const std::string reason = fmt::format("{} is there", kForceFile);
  plan::Action reboot;
  reboot.what.type = plan::action_type::kReboot;
  reboot.reasons = {reason};
  plan.actions = {std::move(reboot)};
  plan.drain = {true, reason, std::nullopt};
}

Result<> PlanChange(const host::Host& host, const SurveyRequest& request, change::CurrentConfig from,
                    change::CurrentConfig to, change::Things left_alone, bool is_forced, Survey& survey) {
  // The policy is stored for commands that restore files without asking the cluster.
  if (request.wanted) TRY(change::KeepPolicy(host.root, request.policy));
  change::LeaveAside(host, to.object, from.object);
  auto prepared = std::make_shared<Prepared>(Prepared{std::move(from), std::move(to), {}});
  prepared->plan = plan::Make(prepared->from, prepared->to, request.policy, request.overrides);
  plan::Plan& plan = prepared->plan;
  if (!plan.IsReconcilable()) {
    survey.outlook.unreconcilable = Unreconcilable(prepared->from, prepared->to, plan.verdict.text);
    return {};
  }
  TRY(change::CheckNames(prepared->to.ignition));
  TRY(change::CheckAbleTo(host, plan.difference));
  if (plan.drain.error) return Error(ErrorKind::kInvalid, *plan.drain.error);
  for (const plan::Action& action : plan.actions) TRY(plan::ExpectKnown({&action.what, 1}));
  plan.writers = prepared->to.writers;
  prepared->is_forced = is_forced;
  prepared->left_alone = std::move(left_alone);
  prepared->left_alone.insert(request.looked_after.begin(), request.looked_after.end());
  if (is_forced) Force(plan);
  survey.outlook.drains = plan.drain.is_needed;
  survey.prepared = std::move(prepared);
  return {};
}

// Returns whether a new machine differs from its first config in the OS only: it may have come with another version.
Result<bool> IsNewWithOtherOs(const host::Host& host, bool is_kept, const std::vector<change::Finding>& findings) {
  const auto is_about_os = [](const change::Finding& finding) { return finding.about == change::kOs; };
  if (is_kept || findings.empty() || !std::all_of(findings.begin(), findings.end(), is_about_os)) return false;
  return IsNewToCluster(host.root);
}

// Plans the first change of a new machine.  The difference between its OS and its config is no drift.
Result<> PlanFirstBoot(const host::Host& host, const SurveyRequest& request, change::CurrentConfig config,
                       change::CurrentConfig to, Survey& survey) {
  const bool stays = GoalOf(config) == GoalOf(to);
  config.object = TRY(change::AsBooted(host, std::move(config.object)));
  TRY(PlanChange(host, request, std::move(config), std::move(to), {}, false, survey));
  // As with the Machine Config Operator, a machine that was not ready for pods yet needs no drain.
  if (stays && survey.prepared) survey.prepared->plan.drain = {};
  if (stays) survey.outlook.drains = false;
  return {};
}

// Stores all findings in the survey, and returns those that count as one text.
Result<std::string> AddFindings(const host::Host& host, const change::CurrentConfig& config,
                                std::vector<change::Finding> findings, const change::Ignored& ignored, Survey& survey) {
  change::Drifts drifts = TRY(change::DriftsOf(host.root, config, std::move(findings), ignored));
  survey.findings = drifts.count();
  survey.findings_text = json::ToIndentedText(json::Encode(drifts)) + "\n";
  return std::move(drifts.text);
}

// Explains why ignored findings count after all.
std::string IgnoredText(const std::vector<change::Finding>& lost, const change::Ignored& ignored, const Goal& wanted) {
  std::string text;
  for (const change::Finding& finding : lost) {
    if (!change::IgnoredUntil(ignored, finding.about)) continue;
    text += fmt::format("; {} is ignored, but {} wants it otherwise: `pintle restore {}` puts it back first",
                        finding.about, wanted.config, ShellOperand(finding.about));
  }
  return text;
}

// Stores in the survey which edits a change to another config would overwrite.  An ignored thing counts if that config
// wants it otherwise.
Result<> AddLosses(const host::Host& host, std::vector<change::Finding> findings, change::Ignored ignored,
                   const change::CurrentConfig& from, const change::CurrentConfig& to, const change::Things& left_alone,
                   Survey& survey) {
  const auto lost = TRY(change::FindingsThatWouldBeLost(host, findings, to, left_alone));
  if (lost.empty()) return {};
  survey.outlook.drift = change::TextOf(lost, survey.current.config) + IgnoredText(lost, ignored, GoalOf(to));
  std::erase_if(ignored, [&](const change::IgnoredThing& thing) {
    return std::any_of(lost.begin(), lost.end(),
                       [&](const auto& one) { return change::IgnoredUntil({thing}, one.about).has_value(); });
  });
  TRY(AddFindings(host, from, std::move(findings), ignored, survey));
  return {};
}

}  // namespace

Goal GoalOf(const change::CurrentConfig& config) {
  return {config.object.metadata.name, change::EmbeddedImage(config.object)};
}

Result<std::optional<Goal>> CurrentGoal(const Root& root) {
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(root));
  if (change::IsNoConfig(config.object) || TRY(IsOfFirstBoot(root, config))) return std::nullopt;
  return GoalOf(config);
}

namespace {

// The journal is read first: while a change is half made, nothing else that a look finds means anything.
Result<bool> FindPending(const host::Host& host, Outlook& outlook) {
  const auto pending = TRY(change::PendingOn(host));
  outlook.is_cut_short = pending == change::Pending::kCutShort;
  if (pending == change::Pending::kWaitsForReboot) {
    outlook.waits =
        "a change of this machine waits for a reboot: reboot it, or give the change up with `pintle recover --give-up`";
  }
  return pending != change::Pending::kNone;
}

}  // namespace

void TellLeftAside(const std::string& what, host::AgentStatus& status) {
  if (std::exchange(status.left_aside, what) != what && !what.empty()) log::Notice("left aside: " + what, kLeftAside);
}

Result<Survey> LookAt(const host::Host& host, const SurveyRequest& request) {
  Survey survey;
  if (TRY(FindPending(host, survey.outlook))) return survey;
  auto [current, is_kept] = TRY(CurrentOf(host, request));
  survey.current = GoalOf(current);
  survey.is_assumed = request.assumed && !is_kept;
  survey.paths = plan::PathsOf(current.ignition);
  survey.left_aside = change::LeftAside(host, current.object.spec);
  auto findings = TRY(change::FindingsOnThisMachine(host, current));
  survey.ignored = TRY(change::ReadIgnored(host.root, host.clock.Wall()));
  const change::Ignored& ignored = survey.ignored;
  const std::string drift = TRY(AddFindings(host, current, findings, ignored, survey));
  const bool is_forced = TRY(host.root.Status(kForceFile)).has_value();
  const bool stays = !request.wanted || request.wanted->goal == survey.current;
  if (!is_forced && TRY(IsNewWithOtherOs(host, is_kept, findings))) {
    change::CurrentConfig first = stays ? current : TRY(request.wanted->read());
    TRY(PlanFirstBoot(host, request, std::move(current), std::move(first), survey));
    return survey;
  }
  // A config that someone else gave the machine is written to its disk as well.
  const bool has_it = stays && (is_kept || change::IsNoConfig(current.object));
  survey.outlook.is_there = has_it && drift.empty();
  if (survey.outlook.is_there) return survey;
  change::CurrentConfig to = stays ? current : TRY(request.wanted->read());
  change::Things left_alone = change::OutOfReach(host.root, current, to);
  if (!is_forced) {
    left_alone.merge(TRY(change::LeftAlone(ignored, current, to)));
    if (stays) survey.outlook.drift = drift;
    if (!stays) TRY(AddLosses(host, std::move(findings), ignored, current, to, left_alone, survey));
    if (!survey.outlook.drift.empty()) return survey;
  }
  TRY(PlanChange(host, request, std::move(current), std::move(to), std::move(left_alone), is_forced, survey));
  return survey;
}

}  // namespace pintle::agent
