// SPDX-License-Identifier: Apache-2.0
#include "change/apply.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "change/act.h"
#include "change/as_booted.h"
#include "change/boot.h"
#include "change/findings.h"
#include "change/journal.h"
#include "change/link_changes.h"
#include "change/next_boot.h"
#include "change/put.h"
#include "change/rejected.h"
#include "change/room.h"
#include "change/stage.h"
#include "change/task_progress.h"
#include "change/whose_deployment.h"
#include "host/files/remedy.h"
#include "host/ostree/image_name.h"
#include "plan/actions.h"

namespace pintle::change {
namespace {

// A finalizer that takes longer than this to become ready counts as hung.
constexpr auto kFinalizerPatience = std::chrono::minutes(1);

class Changer {
 public:
  Changer(const host::Host& host, const Progress& progress, std::stop_token stop = {})
      : host_(host), journal_(host.root), progress_(progress), stop_(std::move(stop)) {}

  // `stage` collects the contents and returns the change; `next` returns the deployment if the change is left to the
  // next boot.
  template <typename StageFunction, typename NextFunction>
  Result<Ending> Make(const StageFunction& stage, const NextFunction& next, EndsWith end = EndsWith::kTheBoot) {
    if (const auto pending = TRY(journal_.Read())) return UnderWay(*pending);
    auto begun = Begin(stage, next, end);
    if (!begun || begun->change.steps.empty()) {
      const auto discarded = Discard();
      if (!begun) return WithAlso(std::move(begun).error(), "when its contents were removed", discarded);
      TRY(discarded);
      return Ending::kNothingToDo;
    }
    auto& [change, contents, fetched] = *begun;
    Report(fmt::format("applying {}", change.to));
    if (auto put = PutInPlace(change, contents, fetched); !put) return Undo(change, contents, std::move(put).error());
    return change.next_boot ? Ending::kRebootNeeded : EndOf(change, contents);
  }

  template <typename StageFunction, typename NextFunction>
  Result<> Rehearse(const StageFunction& stage, const NextFunction& next) const {
    if (const auto pending = TRY(journal_.Read())) return UnderWay(*pending);
    const auto staged = StageWithRoom(stage, next);
    const auto discarded = Discard();
    if (!staged) return WithAlso(staged.error(), "when its contents were removed", discarded);
    return discarded;
  }

  Result<> FetchAhead(NextDeployment next) const {
    TRY(ExpectDigest(next.image));
    TRY(Fetch(std::move(next), stop_));
    return {};
  }

  Result<Pending> FindPending() const {
    const auto change = TRY(journal_.Read());
    if (!change) return Pending::kNone;
    const bool waits =
        change->phase == Phase::kApplied && HasReboot(change->actions) && !TRY(HasRebooted(host_.root, *change));
    return waits ? Pending::kWaitsForReboot : Pending::kCutShort;
  }

  Result<Recovered> Recover() {
    auto change = TRY(journal_.Read());
    if (!change) return Recovered();
    const host::BlobStore contents = TRY(journal_.OpenBlobs());
    auto recovered = RecoverWith(*change, contents);
    if (recovered) return recovered;
    // Contents that are missing stay missing, so another try cannot help.  ExpectUsable() returns the remedy.
    TRY(journal_.ExpectUsable(), recovered.error().message());
    return recovered;
  }

  Result<> Confirm() {
    const auto change = TRY(journal_.Read());
    // Only a boot with the change can prove that the machine is healthy with it.
    const bool can_be_confirmed = change && change->awaits_confirmation && change->boots > 0;
    return can_be_confirmed && change->phase == Phase::kApplied ? journal_.Close() : Result<>();
  }

  Result<Recovered> GiveUp(const std::string& why) {
    auto change = TRY(journal_.Read());
    if (!change || IsTakenBack(*change)) return Recover();
    change->reason = why.empty() ? "it was given up" : why;
    TRY(Enter(Phase::kUndoing, *change));
    return Recover();
  }

 private:
  struct FetchedDeployment {
    host::WantedDeployment wanted;
    std::unique_ptr<host::OfferedPackages> packages;
  };

  // A change whose journal is written, unless there is nothing to do.
  struct BegunChange {
    Change change;
    host::BlobStore contents;
    FetchedDeployment fetched;
  };

  static Error UnderWay(const Change& pending) {
    return Error(ErrorKind::kConflict, fmt::format("the change to {} is still under way; end it first", pending.to));
  }

  template <typename StageFunction, typename NextFunction>
  Result<> StageWithRoom(const StageFunction& stage, const NextFunction& next) const {
    host::BlobStore contents = TRY(journal_.OpenBlobs());
    const Change change = TRY(stage(contents));
    TRY(ExpectRoom(host_, change, contents));
    if (!change.next_boot) return {};
    return host::CheckMayReplace(TRY(host_.deployments->Observe()).pending, TRY(next()).wanted);
  }

  template <typename StageFunction, typename NextFunction>
  Result<BegunChange> Begin(const StageFunction& stage, const NextFunction& next, EndsWith end) const {
    Report("looking at the machine");
    host::BlobStore contents = TRY(journal_.OpenBlobs());
    Change staged = TRY(stage(contents));
    BegunChange begun = {std::move(staged), std::move(contents), {}};
    Change& change = begun.change;
    if (change.steps.empty()) return begun;
    TRY(plan::ExpectKnownActions(change.actions));
    change.boot_id = TRY(BootId(host_.root));
    change.awaits_confirmation = end == EndsWith::kConfirmation && HasReboot(change.actions);
    TRY(ExpectRoom(host_, change, begun.contents));
    if (change.next_boot) begun.fetched = TRY(Fetch(TRY(next()), stop_));
    TRY(journal_.Write(change));
    return begun;
  }

  // Removes the contents that were stored for a change of which nothing has been put yet.
  Result<> Discard() const { return journal_.Close(); }

  Result<> PutInPlace(Change& change, const host::BlobStore& contents, const FetchedDeployment& fetched) {
    if (change.next_boot) {
      TRY(StageDeployment(*change.next_boot, fetched.wanted));
    } else {
      TRY(PutAll(host_, contents, change.steps, {change.undo, &change.fingerprints}));
      TRY(RecordLinks(host_, change));
    }
    return Enter(Phase::kApplied, change);
  }

  // Returns `error`.  If `second` is an error with a different message, appends that message.
  static Error WithAlso(Error error, std::string_view when, const Result<>& second) {
    if (second || second.error().message() == error.message()) return error;
    return Error(error.kind(), fmt::format("{}; and {}: {}", error.message(), when, second.error().message()));
  }

  static Recovered RecoveryOf(Ending ending) {
    return {ending == Ending::kRebootNeeded ? Recovery::kRebootNeeded : Recovery::kFinished, ""};
  }

  // Writes the new phase to the journal.  From then on, this phase decides what recovery does after a crash.  If the
  // write fails, the old phase still holds.
  Result<> Enter(Phase phase, Change& change) const {
    const Phase before = std::exchange(change.phase, phase);
    auto written = journal_.Write(change);
    if (!written) change.phase = before;
    return written;
  }

  void Report(const std::string& doing) const {
    if (progress_) progress_({doing});
  }

  TaskProgress ReportTask(std::string doing) const { return {*host_.deployments, progress_, std::move(doing)}; }

  // Stores the config and the reason as rejected, so that the agent does not make the change again by itself.  A change
  // that awaits no confirmation, or is undone without a reason, is not rejected.
  Result<> RecordRejection(const Change& change) const {
    if (!change.awaits_confirmation || change.reason.empty()) return {};
    return KeepRejected(host_.root, Rejected{change.to, change.to_image, change.reason});
  }

  Result<Recovered> RecoverWith(Change& change, const host::BlobStore& contents) {
    if (change.next_boot) return RecoverDeployment(change, contents);
    if (change.phase != Phase::kApplied) return TakeBack(change, contents);
    // If the change needs no reboot, its actions are repeated even if the machine has booted: the boot has started the
    // services with the new files, but it is not known whether they run.
    const bool is_after_reboot = HasReboot(change.actions) && TRY(HasRebooted(host_.root, change));
    if (!is_after_reboot) return RecoveryOf(TRY(EndOf(change, contents)));
    TRY(CountBoot(change));
    const auto checked = CheckAfterBoot(change);
    if (checked) return EndAfterBoot(change);
    if (CouldNotLook(checked.error())) return checked.error();
    change.reason = checked.error().message();
    TRY(Enter(Phase::kUndoing, change));
    return TakeBack(change, contents);
  }

  // Ends a change of which everything has been put in place.
  Result<Ending> EndOf(Change& change, const host::BlobStore& contents) {
    if (HasReboot(change.actions)) return Ending::kRebootNeeded;
    Report("reloading and restarting what has changed");
    const auto end = [&]() -> Result<> {
      TRY(Act(host_, change.actions, change.steps));
      TRY(Check(change));
      return journal_.Close();
    };
    if (auto ended = end(); !ended) return Undo(change, contents, std::move(ended).error());
    return Ending::kDone;
  }

  Result<> CountBoot(Change& change) const {
    const std::string boot_id = TRY(BootId(host_.root));
    if (!change.awaits_confirmation || change.counted_boot_id == boot_id) return {};
    ++change.boots;
    change.counted_boot_id = boot_id;
    return journal_.Write(change);
  }

  // Returns whether the error of a check is about a program that does not answer, and not about the machine's state.  A
  // later recovery can look again, so this is no reason to undo a change and to reject its config.
  static bool CouldNotLook(const Error& error) { return error.kind() == ErrorKind::kUnavailable; }

  Result<> CheckAfterBoot(const Change& change) const {
    if (change.boots > kMostBoots) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("boot loop: the machine has booted {} times with {} and was never healthy "
                               "for long enough to confirm the change",
                               change.boots, change.to));
    }
    return Check(change);
  }

  Result<Recovered> EndAfterBoot(const Change& change) const {
    if (change.awaits_confirmation) return Recovered{Recovery::kToBeConfirmed, ""};
    TRY(journal_.Close());
    return Recovered{Recovery::kFinished, ""};
  }

  Result<> Check(const Change& change) const {
    Report("checking that everything is as wanted");
    const auto findings = TRY(FindingsIn(host_, change.steps));
    return findings.empty() ? Result<>() : Error(ErrorKind::kInvalid, TextOf(findings, change.to));
  }

  // Undoes the change because of `reason`, and returns that error with any error of undoing.  Steps that could not be
  // undone are still in the journal, for Recover().
  Error Undo(Change& change, const host::BlobStore& contents, const Error& reason) {
    Report(fmt::format("undoing the change: {}", reason.message()));
    std::string left_as_is;
    const auto undo = [&]() -> Result<> {
      if (change.next_boot) {
        left_as_is = TRY(StayWithOld(change, contents));
        return {};
      }
      // If this write fails, the journal still has the phase applied, so the new state must stay in place.
      if (change.phase == Phase::kApplied) TRY(Enter(Phase::kUndoing, change));
      const std::string left = TRY(PutBack(change, contents, [&](const std::string&) { return journal_.Close(); }));
      return left.empty() ? Result<>() : Error(ErrorKind::kConflict, left);
    };
    // If a service starts neither with the new files nor with the old ones, both errors are the same, and WithAlso()
    // reports only one.
    Error all = WithAlso(reason, "when this was undone", undo());
    if (!left_as_is.empty()) all = Error(all.kind(), fmt::format("{}; {}", all.message(), left_as_is));
    return std::move(all).While(fmt::format("applying {}", change.to));
  }

  // Undoes the change, and reports that as the outcome of a recovery.
  Result<Recovered> TakeBack(Change& change, const host::BlobStore& contents) {
    if (IsTakenBack(change)) return EndTakenBack(change);
    Report(fmt::format("undoing the change to {}", change.to));
    // If the services of this boot were started with the new files, another boot is needed.
    const bool runs_with_new = HasReboot(change.actions) && TRY(HasRebooted(host_.root, change));
    const std::string boot_id = TRY(BootId(host_.root));
    const auto end = [&](const std::string& left) -> Result<> {
      if (!change.reason.empty() && !left.empty()) change.reason += "; ";
      change.reason += left;
      // A tree that is not running has no boot to wait for.
      if (!runs_with_new || boot_id.empty()) return journal_.Close();
      // The journal stays, so that the reboot is not forgotten if this program ends before it.
      change.phase = Phase::kUndoing;
      change.steps.clear();
      change.undo.clear();
      change.boot_id = boot_id;
      return journal_.Write(change);
    };
    TRY(PutBack(change, contents, end));
    return Recovered{runs_with_new ? Recovery::kRebootNeededToUndo : Recovery::kUndone, change.reason};
  }

  // Returns whether the old state is back already, and only the reboot is missing.
  static bool IsTakenBack(const Change& change) {
    return change.phase == Phase::kUndoing && change.steps.empty() && change.undo.empty();
  }

  Result<Recovered> EndTakenBack(const Change& change) const {
    if (!TRY(HasRebooted(host_.root, change))) return Recovered{Recovery::kRebootNeededToUndo, change.reason};
    TRY(journal_.Close());
    return Recovered{Recovery::kUndone, change.reason};
  }

  // Puts the steps of the undo, and then calls `end`, which closes the journal or writes what is left to do.  Its
  // argument, which is returned as well, names the things that were left because someone has edited them.
  template <typename EndFunction>
  Result<std::string> PutBack(const Change& change, const host::BlobStore& contents, const EndFunction& end) const {
    const auto left_alone = TRY(UndoSteps(host_, contents, {.undo = change.undo, .done = change.steps}));
    std::string left = fmt::format("{}", fmt::join(left_alone, "; "));
    // Services that run with the new files are restarted with the old ones.  If the machine has rebooted meanwhile, the
    // services may have been started with either.
    const bool may_run_with_new = change.phase == Phase::kUndoing || TRY(HasRebooted(host_.root, change));
    const auto acted = Act(host_, may_run_with_new ? Actions(change.actions) : Actions(), change.undo);
    // The rejection is recorded only now: this needs space, and the old state must come back even if the disk is full.
    TRY(RecordRejection(change));
    TRY(end(left));
    TRY(acted);
    return left;
  }

  // ---- with the next boot -------------------------------------------------------------------------------------------

  // Returns an error if the image is named by a tag or a branch, which may stand for another image when the change is
  // made.
  static Result<> ExpectDigest(const std::string& image) {
    if (image.empty()) return {};
    const host::ImageName name = TRY(host::ParseImageName(image));
    const auto* in_registry = std::get_if<host::RegistryImage>(&name);
    const bool may_change =
        in_registry != nullptr ? in_registry->digest.empty() : std::holds_alternative<host::OstreeBranch>(name);
    if (!may_change) return {};
    return Error(ErrorKind::kInvalid, fmt::format("the name {} may stand for another OS image when the change is made; "
                                                  "name the image by its digest",
                                                  image));
  }

  Result<FetchedDeployment> Fetch(NextDeployment next, const std::stop_token& stop) const {
    FetchedDeployment fetched;
    if (!next.wanted.packages.IsEmpty()) {
      const TaskProgress task = ReportTask(fmt::format("fetching the packages of {}", next.extensions_image));
      fetched.packages = TRY(host_.deployments->OfferPackages(next.extensions_image, stop));
    }
    if (!next.image.empty()) {
      const TaskProgress task = ReportTask(fmt::format("fetching {}", next.image));
      next.wanted.image = TRY(host_.deployments->Fetch(next.image, stop));
    }
    fetched.wanted = std::move(next.wanted);
    return fetched;
  }

  Result<> StageDeployment(NextBoot& next_boot, const host::WantedDeployment& wanted) {
    const TaskProgress task = ReportTask("staging the next deployment");
    // The finalizer is started first, so that no shutdown can meet a staged deployment without it.
    TRY(ArmFinalizer(host_));
    TRY(host_.deployments->Put(wanted));
    TRY(RecordStaged(*host_.deployments, next_boot));
    return host::AwaitFinalizer(host_.systemd, kFinalizerPatience);
  }

  Result<Recovered> RecoverDeployment(Change& change, const host::BlobStore& contents) {
    if (host_.deployments == nullptr) {
      return Error(ErrorKind::kInvalid, fmt::format("the change to {} began on an OSTree host", change.to));
    }
    const bool has_rebooted = TRY(HasRebooted(host_.root, change));
    const auto state = TRY(host_.deployments->Observe());
    if (state.booted && state.booted->id == change.next_boot->replaces) {
      if (change.phase == Phase::kApplied && !has_rebooted) return Recovered{Recovery::kRebootNeeded, ""};
      // If the boot loader has no entry for the new deployment, the power failed before the entry was written, and the
      // deployment was never booted.
      const bool was_tried = change.next_boot->is_finalized && state.pending && !state.pending->is_staged;
      if (change.reason.empty() && was_tried) change.reason = "the new deployment did not boot";
      const std::string left_as_is = TRY(StayWithOld(change, contents));
      // A change that is undone without a reason is made again, and then it meets and reports the same obstacles.
      if (!left_as_is.empty() && !change.reason.empty()) change.reason += "; " + left_as_is;
      return Recovered{Recovery::kUndone, change.reason};
    }
    if (change.phase != Phase::kApplied) return GoBack(change, state);
    if (!has_rebooted) return Recovered{Recovery::kRebootNeeded, ""};
    if (!change.next_boot->is_finalized) return FinalizeLate(change, contents, state);
    TRY(CountBoot(change));
    if (const auto checked = CheckAfterBoot(change); !checked) {
      if (CouldNotLook(checked.error())) return checked.error();
      change.reason = checked.error().message();
      return GoBack(change, state);
    }
    return EndAfterBoot(change);
  }

  // Undoes the change while the old deployment is running.  The old deployment then boots next as well, unless someone
  // else has staged another one.  Returns a text that names such a deployment and the edits that were left as they are.
  Result<std::string> StayWithOld(const Change& change, const host::BlobStore& contents) {
    Report(fmt::format("undoing the change to {}", change.to));
    const auto state = TRY(host_.deployments->Observe());
    const auto rebooted = TRY(HasRebooted(host_.root, change)) ? Rebooted::kYes : Rebooted::kNo;
    std::string someone_elses;
    if (state.pending && state.pending->id != change.next_boot->found_pending &&
        IsOfChange(*change.next_boot, *state.pending, rebooted)) {
      TRY(host_.deployments->DropPending());
    } else if (state.pending) {
      someone_elses = SomeoneElsesText(*state.pending);
      Report(someone_elses);
    }
    std::vector<std::string> left = TRY(PutSharedBack(host_, contents, change));
    if (!someone_elses.empty()) left.insert(left.begin(), std::move(someone_elses));
    TRY(RecordRejection(change));
    TRY(journal_.Close());
    return fmt::format("{}", fmt::join(left, "; "));
  }

  // Undoes the change while another deployment than the old one is running: makes the old deployment boot next.
  Result<Recovered> GoBack(Change& change, const host::DeploymentsState& state) {
    Report(fmt::format("going back from {}: {}", change.to, change.reason));
    TRY(Enter(Phase::kUndoing, change));
    const auto is_old = [&](const auto& deployed) { return deployed && deployed->id == change.next_boot->replaces; };
    if (!is_old(state.pending)) {
      if (!is_old(state.rollback)) {
        TRY(RecordRejection(change));
        TRY(journal_.Close());
        return Error(ErrorKind::kNotFound, fmt::format("{}; the old deployment does not exist any more, so the machine "
                                                       "cannot go back to it: see `pintle verify`",
                                                       change.reason));
      }
      TRY(host_.deployments->RollBack());
    }
    // The record needs space, and the old deployment must boot even if the disk is full.  StayWithOld() makes the
    // record again after that boot.
    static_cast<void>(RecordRejection(change));
    return Recovered{Recovery::kRebootNeededToUndo, change.reason};
  }

  // Puts the files of the new deployment, which was booted without them because the shutdown did not wait for the
  // finalizer.
  Result<Recovered> FinalizeLate(Change& change, const host::BlobStore& contents, const host::DeploymentsState& state) {
    if (const auto checked = CheckBooted(host_, change); !checked) {
      // Someone has chosen a deployment that was not staged for this change.
      change.reason = fmt::format("the machine has booted a deployment that was not staged for {}, and keeps it: {}",
                                  change.to, checked.error().message());
      TRY(RecordRejection(change));
      TRY(journal_.Close());
      return Recovered{Recovery::kUndone, change.reason};
    }
    Report(fmt::format("putting the files of {}", change.to));
    if (auto put = PutLate(host_, contents, change); !put) {
      if (host::IsFaultOfMachine(put.error())) return std::move(put).error();
      change.reason = put.error().message();
      return GoBack(change, state);
    }
    change.next_boot->is_finalized = true;
    change.boot_id = TRY(BootId(host_.root));
    TRY(journal_.Write(change));
    return Recovered{Recovery::kRebootNeeded, ""};
  }

  const host::Host& host_;
  Journal journal_;
  const Progress& progress_;
  const std::stop_token stop_;  // Ends a fetch.
};

}  // namespace

Result<Ending> Apply(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                     const plan::Plan& plan, const Progress& progress, EndsWith end, const Things& left_alone,
                     Edits edits, const std::stop_token& stop) {
  return Changer(host, progress, stop)
      .Make([&](host::BlobStore& contents) { return Stage(host, contents, from, to, plan, left_alone, edits); },
            [&] { return NextDeploymentFor(host, from, to, plan.difference); }, end);
}

bool WantsImage(const plan::Plan& plan) { return plan.difference.os_image; }

Result<> FetchAhead(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                    const plan::Plan& plan, const std::stop_token& stop) {
  // Without a reboot, or on a machine that does not run from its deployments, a change fetches nothing.
  if (host.deployments == nullptr || !plan.Reboots() || !TRY(host.deployments->Observe()).booted) return {};
  return Changer(host, {}, stop).FetchAhead(TRY(NextDeploymentFor(host, from, to, plan.difference)));
}

Result<> Rehearse(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                  const plan::Plan& plan, const Things& left_alone, Edits edits) {
  return Changer(host, {}).Rehearse(
      [&](host::BlobStore& contents) { return Stage(host, contents, from, to, plan, left_alone, edits); },
      [&] { return NextDeploymentFor(host, from, to, plan.difference); });
}

Result<Ending> Restore(const host::Host& host, const plan::ParsedConfig& config, const plan::Plan& plan,
                       const Choice& choice, const Progress& progress) {
  return Changer(host, progress)
      .Make([&](host::BlobStore& contents) { return StageRestore(host, contents, config, plan, choice); },
            [&]() -> Result<NextDeployment> {
              const api::MachineConfig from = TRY(AsBooted(host, config.object));
              return NextDeploymentFor(host, {from, config.ignition}, config, plan.difference);
            });
}

Result<Ending> Make(const host::Host& host, const CustomChange& custom, const Progress& progress, EndsWith end) {
  return Changer(host, progress).Make(custom.stage, custom.next, end);
}

Result<Pending> PendingOn(const host::Host& host) { return Changer(host, {}).FindPending(); }

Result<Recovered> Recover(const host::Host& host, const Progress& progress) {
  return Changer(host, progress).Recover();
}

Result<> Confirm(const host::Host& host) { return Changer(host, {}).Confirm(); }

Result<Recovered> GiveUp(const host::Host& host, const Progress& progress, const std::string& why) {
  return Changer(host, progress).GiveUp(why);
}

}  // namespace pintle::change
