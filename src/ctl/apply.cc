// SPDX-License-Identifier: Apache-2.0
#include "ctl/apply.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "base/printable.h"
#include "change/abilities.h"
#include "change/apply.h"
#include "change/claim.h"
#include "change/current_config.h"
#include "change/drift.h"
#include "change/findings.h"
#include "change/ignored.h"
#include "change/journal.h"
#include "change/local_configs.h"
#include "change/losses.h"
#include "change/names.h"
#include "change/warnings.h"
#include "ctl/carry_out.h"
#include "ctl/colour.h"
#include "ctl/drift.h"
#include "ctl/plan_text.h"
#include "ctl/policy.h"
#include "ctl/recover.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

// The outcomes that only this verb has.
constexpr const char* kWouldChange = "would change";
constexpr const char* kPending = "another change is pending";

// The answer that `-o json` prints.
struct ApplyAnswer {
  std::string from;
  std::string to;
  std::string outcome;
  std::optional<change::VerifyReport> report;
  std::optional<json::Value> plan;
  std::string left_aside;  // The OS settings of the config that a machine without OSTree does not apply.

  static constexpr auto kFields = json::FieldList{
      json::Required{"from", &ApplyAnswer::from},       json::Required{"to", &ApplyAnswer::to},
      json::Required{"outcome", &ApplyAnswer::outcome}, json::Field{"verify", &ApplyAnswer::report},
      json::Field{"plan", &ApplyAnswer::plan},          json::Field{"leftAside", &ApplyAnswer::left_aside},
  };
};

Result<change::CurrentConfig> ReadWantedConfig(const CommandLine& line) {
  if (line.Has("--none")) {
    if (!line.operands().empty())
      return Error(ErrorKind::kInvalid, "--none removes the machine's config; leave out the files");
    return change::EmptyCurrentConfig();
  }
  if (line.operands().empty()) {
    return Error(ErrorKind::kInvalid, "name the files or directories that have the configs, or use --none");
  }
  change::WrittenConfigs written = TRY(change::ReadWrittenConfigs(line.operands()));
  for (const std::string& entry : written.left_out)
    PrintToStderr(fmt::format("pintle: apply: left out: {}\n", Printable(entry)));
  // A person who names files without a config hardly wants to remove the machine's config.
  if (written.configs.empty() && !written.others.empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("these files have no config: {}; --none removes the machine's config",
                                                  change::WhyNotConfig(written.others.front())));
  }
  for (const std::string& other : written.others) {
    PrintToStderr(fmt::format("pintle: apply: left out: {}\n", Printable(change::WhyNotConfig(other))));
  }
  return change::RenderLocally(std::move(written.configs));
}

// Returns an error if this machine cannot change to the config.
Result<> CheckReachable(const host::Host& host, const plan::Plan& plan, const change::CurrentConfig& from,
                        const change::CurrentConfig& to) {
  TRY(change::CheckNames(to.ignition));
  if (plan.IsReconcilable()) return change::CheckAbleTo(host, plan.difference);
  std::string text = UnreconcilableText(from.object, to.object, plan.verdict.text);
  for (const auto& obstacle : plan.verdict.obstacles) {
    text += fmt::format("\n  {} ({})", Printable(obstacle.text), Printable(obstacle.advice));
  }
  return Error(ErrorKind::kUnreconcilable, std::move(text));
}

// Changes the machine to one config, and prints the answer.
class ApplyWork {
 public:
  ApplyWork(const CommandLine& line, const Machine& machine, const change::CurrentConfig& to,
            const api::NodeDisruptionPolicy& policy, Form form)
      : line_(line), machine_(machine), to_(to), policy_(policy), form_(form) {}

  Result<ExitStatus> Run() {
    answer_.to = to_.object.metadata.name;
    if (line_.Has("--dry-run")) {
      if (const auto pending = TRY(change::Journal(machine_.root()).Read())) {
        return Refuse(kPending, PendingText(*pending, machine_));
      }
      return CheckAndApply();
    }
    const auto claim = TRY(change::Claim::Take(machine_.root(), change::kClaimPatience));
    const RecoveryOutcome recovered = TRY(EndInterruptedChange(machine_), "ending what was cut short");
    if (IsUnderWay(recovered)) {
      return Refuse(kPending, fmt::format("{}`pintle recover{} --give-up` undoes it.\n", RecoveredText(recovered),
                                          machine_.RootOptionText()));
    }
    if (recovered.how != change::Recovery::kNothingToDo) PrintToStderr("pintle: apply: " + RecoveredText(recovered));
    return CheckAndApply();
  }

 private:
  Result<ExitStatus> CheckAndApply() {
    change::CurrentConfig from = TRY(change::ReadCurrentConfig(machine_.root()));
    change::CopyUnsupportedParts(machine_.host(), {.from = to_.object, .to = from.object});
    answer_.from = from.object.metadata.name;
    plan::Plan plan = plan::Make(from, to_, policy_, {});
    plan.writers = to_.writers;
    TRY(CheckReachable(machine_.host(), plan, from, to_));
    answer_.plan = AnswerOf(plan, from, to_);
    const auto ignored = TRY(change::ReadIgnored(machine_.root(), machine_.host().clock.Wall()));
    auto left_alone = TRY(change::LeftAlone(ignored, from, to_));
    left_alone.merge(change::UnreadableKeys(machine_.root(), from, to_));
    auto lost = TRY(change::FindingsThatWouldBeLost(machine_.host(), TRY(change::FindingsOn(machine_.host(), from)),
                                                    to_, left_alone));
    const change::Things configured_differently = TRY(change::ConfiguredDifferently(lost, from, to_));
    change::VerifyReport report = TRY(change::VerifyReportOf(machine_.root(), from, std::move(lost), {},
                                                             machine_.RootOptionText(), PrivateLinesFor(line_)));
    if (!report.things.empty()) {
      change::RemoveIgnoreAdvice(configured_differently, report);
      PrintIfText(VerifyReportText(report));
      answer_.report = std::move(report);
      return Refuse(outcome::kDrifted, "this machine is not as its config wants it; nothing was changed");
    }
    // The next boot of a machine that does not run starts everything anew, so no actions are needed.
    if (!machine_.IsRunning()) plan.actions.clear();
    const bool differs = Differ(from, to_);
    for (const std::string& warning : change::WarningsOf(machine_.root(), from, to_)) {
      PrintToStderr(fmt::format("pintle: apply: warning: {}\n", Printable(warning)));
    }
    if (differs) PrintIfText(PlanText(plan, from));
    answer_.left_aside = change::UnsupportedPartsText(machine_.host(), to_.object.spec);
    if (!answer_.left_aside.empty()) PrintIfText(fmt::format("Left aside: {}.\n", answer_.left_aside));
    if (line_.Has("--dry-run")) return Finish(differs ? kWouldChange : outcome::kNothingToDo);
    if (differs && !TRY(IsConfirmed(line_, "Do this?"))) {
      return Refuse(outcome::kDeclined, "nothing was changed");
    }
    return Finish(TRY(CarryOut(machine_, line_, {.verb = "apply", .from = answer_.from, .to = answer_.to},
                               [&](const change::Progress& progress) {
                                 return change::Apply(machine_.host(), from, to_, plan, progress,
                                                      change::EndsWith::kTheBoot, left_alone);
                               })));
  }

  std::string PlanText(const plan::Plan& plan, const change::CurrentConfig& from) const {
    std::string text = ChangesText(plan, from, to_, PrivateLinesFor(line_));
    if (machine_.IsRunning()) text += "\n" + ConsequencesText(plan, Drains::kNone);
    return text;
  }

  void PrintIfText(const std::string& text) const {
    if (form_ == Form::kText) PrintColoured(text, ColourOfDiff);
  }

  // Ends the work without a change.
  ExitStatus Refuse(const std::string& outcome, const std::string& why) {
    answer_.outcome = outcome;
    PrintAnswer();
    PrintToStderr(fmt::format("pintle: apply: {}{}", why, why.ends_with('\n') ? "" : "\n"));
    return ExitStatus::kDiffers;
  }

  // Ends the work with an outcome, and describes it to people.
  ExitStatus Finish(const std::string& outcome) {
    answer_.outcome = outcome;
    PrintAnswer();
    if (outcome == kWouldChange) return ExitStatus::kDiffers;
    const std::string result = change::IsNoConfig(to_.object)
                                   ? "this machine is as it was without a config"
                                   : fmt::format("this machine is as {} wants it", answer_.to);
    PrintIfText(OutcomeText(outcome, result, machine_.RootOptionText()));
    return outcome == outcome::kRebootPending ? ExitStatus::kDiffers : ExitStatus::kSuccess;
  }

  void PrintAnswer() const {
    if (form_ != Form::kText) PrintData(json::Encode(answer_), form_);
  }

  const CommandLine& line_;
  const Machine& machine_;
  const change::CurrentConfig& to_;
  const api::NodeDisruptionPolicy& policy_;
  const Form form_;
  ApplyAnswer answer_;
};

}  // namespace

Result<ExitStatus> Apply(const CommandLine& line) {
  const Form form = FormOf(line);
  const change::CurrentConfig to = TRY(ReadWantedConfig(line));
  const Machine machine = TRY(Machine::Of(line));
  const auto policy = TRY(PolicyFor(line, machine));
  return ApplyWork(line, machine, to, policy, form).Run();
}

}  // namespace pintle::ctl
