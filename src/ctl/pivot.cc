// SPDX-License-Identifier: Apache-2.0
#include "ctl/pivot.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/output.h"
#include "base/printable.h"
#include "change/claim.h"
#include "change/current_config.h"
#include "change/findings.h"
#include "change/ignored.h"
#include "ctl/drift.h"
#include "ctl/recover.h"
#include "ctl/verbs.h"
#include "host/ostree/image_name.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

// Adds the commit to a name that can stand for different contents over time, such as a branch or a tag.  A name with a
// digest stays as it is, and so does every name if the commit is not known.
std::string WithCommit(const std::string& name, const std::string& commit) {
  const bool is_exact = commit.empty() || name == commit || name.find('@') != std::string::npos;
  return is_exact ? name : fmt::format("{} ({})", name, commit);
}

std::string ExactName(const host::DeployedImage& image) { return WithCommit(host::NameOf(image), image.base_commit); }

// Carries out one order, on a machine that has deployments.
class PivotWork {
 public:
  PivotWork(const Machine& machine, const CommandLine& line, const PivotOrder& order)
      : machine_(machine), line_(line), order_(order) {}

  Result<PivotAnswer> Run() {
    const auto state = TRY(ObserveDeployments());
    const change::CurrentConfig config = TRY(change::ReadCurrentConfig(machine_.root()));
    if (!order_.is_forced) {
      TRY(LookForDrift(config));
      if (answer_.report) return End(outcome::kDrifted);
    }
    if (!order_.is_confirmed && !TRY(IsConfirmed(line_, Question(*state.booted)))) return End(outcome::kDeclined);
    const std::string& to = order_.pivot.image;
    const change::ChangeEvent event{.verb = "pivot", .from = answer_.from, .to = to.empty() ? answer_.from : to};
    return End(TRY(CarryOut(machine_, order_.then, event, [&](const change::Progress& progress) {
      return PrepareAndApply(config, state.pending, progress);
    })));
  }

 private:
  Result<host::DeploymentsState> ObserveDeployments() {
    host::Deployments& deployments = *machine_.host().deployments;
    if (const std::string busy = TRY(deployments.RunningTransaction()); !busy.empty()) {
      return Error(ErrorKind::kConflict,
                   fmt::format("{}; wait until this transaction has ended (see `rpm-ostree status`), or end "
                               "it with `rpm-ostree cancel`, and try again",
                               busy));
    }
    auto state = TRY(deployments.Observe());
    if (!state.booted) return Error(ErrorKind::kInvalid, "this machine does not run from the deployments on its disk");
    answer_.from = ExactName(*state.booted);
    answer_.to = answer_.from;
    answer_.kernel_arguments = state.booted->kernel_arguments;
    return state;
  }

  // Sets answer_.report if there are findings.  Findings on the OS do not count, since a pivot is meant to make the OS
  // differ from the config.
  Result<> LookForDrift(const change::CurrentConfig& config) {
    auto findings = TRY(change::FindingsOn(machine_.host(), config));
    std::erase_if(findings, [](const change::Finding& finding) { return finding.about == change::kOs; });
    const auto ignored = TRY(change::ReadIgnored(machine_.root(), machine_.host().clock.Wall()));
    change::VerifyReport report = TRY(change::VerifyReportOf(machine_.root(), config, std::move(findings), ignored));
    if (!report.text.empty()) answer_.report = std::move(report);
    return {};
  }

  std::string Question(const host::DeployedImage& booted) const {
    return fmt::format("Shall the next boot take {} instead of {}?",
                       Printable(order_.pivot.image.empty() ? host::NameOf(booted) : order_.pivot.image),
                       Printable(answer_.from));
  }

  Result<change::Ending> PrepareAndApply(const change::CurrentConfig& config,
                                         const std::optional<host::DeployedImage>& pending,
                                         const change::Progress& progress) {
    const auto prepared = TRY(change::Prepare(machine_.host(), order_.pivot, progress));
    if (pending && !prepared.is_needless) {
      PrintToStderr(fmt::format("pintle: pivot: this replaces {}, which someone else has staged for the next boot\n",
                                Printable(ExactName(*pending))));
    }
    // For an image that is booted already, the answer keeps the name that ObserveDeployments() has set.
    if (!prepared.is_booted) answer_.to = WithCommit(prepared.image.name, prepared.image.commit);
    answer_.added_arguments = prepared.add_arguments;
    answer_.removed_arguments = prepared.remove_arguments;
    std::erase_if(answer_.kernel_arguments, [&](const std::string& argument) {
      const auto& gone = prepared.remove_arguments;
      return std::find(gone.begin(), gone.end(), argument) != gone.end();
    });
    return change::Apply(machine_.host(), config, prepared, progress);
  }

  PivotAnswer End(const std::string& outcome) {
    answer_.outcome = outcome;
    return answer_;
  }

  const Machine& machine_;
  const CommandLine& line_;
  const PivotOrder& order_;
  PivotAnswer answer_;
};

ExitStatus StatusOf(const PivotAnswer& answer) {
  const bool is_ended = answer.outcome == outcome::kNothingToDo || answer.outcome == outcome::kRebooting;
  return is_ended ? ExitStatus::kSuccess : ExitStatus::kDiffers;
}

}  // namespace

Result<PivotAnswer> CarryOutPivot(const Machine& machine, const CommandLine& line, const PivotOrder& order) {
  if (machine.host().deployments == nullptr) {
    return Error(ErrorKind::kInvalid, "this machine does not boot from OSTree deployments, and has no image to change");
  }
  const auto claim = TRY(change::Claim::Take(machine.root(), change::kClaimPatience));
  const RecoveryOutcome recovered = TRY(EndInterruptedChange(machine), "ending what was cut short");
  if (IsUnderWay(recovered)) {
    return Error(
        ErrorKind::kConflict,
        fmt::format("the change to {} has to end first; reboot, or undo the change with `pintle recover --give-up`",
                    recovered.to));
  }
  if (recovered.how != change::Recovery::kNothingToDo) PrintToStderr("pintle: pivot: " + RecoveredText(recovered));
  return PivotWork(machine, line, order).Run();
}

std::string PivotText(const PivotAnswer& answer) {
  if (answer.report) return VerifyReportText(*answer.report);
  if (answer.outcome == outcome::kNothingToDo || answer.outcome == outcome::kDeclined) {
    return OutcomeText(answer.outcome, fmt::format("this machine runs {}", answer.from), "");
  }
  std::string text = fmt::format("OS image:\n  from {}\n    to {}\n", Printable(answer.from), Printable(answer.to));
  const auto add = [&](const char* state, const std::vector<std::string>& arguments) {
    if (arguments.empty()) return;
    text += fmt::format("Kernel arguments {}: {}\n", state, Printable(fmt::format("{}", fmt::join(arguments, " "))));
  };
  add("kept", answer.kernel_arguments);
  add("added", answer.added_arguments);
  add("removed", answer.removed_arguments);
  return text + OutcomeText(answer.outcome, "this machine runs the new image", "");
}

Result<ExitStatus> Pivot(const CommandLine& line) {
  const Form form = FormOf(line);
  if (line.operands().size() != 1) return Error(ErrorKind::kInvalid, "name one image, and nothing else");
  PivotOrder order;
  order.pivot.image = line.operands().front();
  TRY(host::ParseImageName(order.pivot.image));
  order.pivot.even_if_booted = line.Has("--force");
  order.is_forced = line.Has("--force");
  order.is_confirmed = line.Has("--yes");
  order.then = line.Has("--reboot") ? AndThen::kReboot : AndThen::kLeaveReboot;
  const Machine machine = TRY(Machine::Of(line));
  const PivotAnswer answer = TRY(CarryOutPivot(machine, line, order));
  if (form == Form::kText) {
    Print(PivotText(answer));
  } else {
    PrintData(json::Encode(answer), form);
  }
  if (answer.report) {
    PrintToStderr(
        "pintle: pivot: this machine is not as its config wants it; nothing was changed; --force continues in spite of "
        "this\n");
  }
  return StatusOf(answer);
}

}  // namespace pintle::ctl
