// SPDX-License-Identifier: Apache-2.0
#include "change/apply.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "change/act.h"
#include "change/findings.h"
#include "change/journal.h"
#include "change/put.h"
#include "change/stage.h"

namespace pintle::change {
namespace {

// Changes with each boot; "" on a root that is not running.
Result<std::string> BootId(const Root& root) {
  constexpr const char* kPath = "/proc/sys/kernel/random/boot_id";
  if (!TRY(root.Status(kPath))) return std::string();
  return TRY(root.ReadFile(kPath));
}

class Changer {
 public:
  Changer(const host::Host& host, const Progress& progress) : host_(host), journal_(host.root), progress_(progress) {}

  // `stage` collects the contents and says what to put.
  template <typename StageFunction>
  Result<Ending> Make(const StageFunction& stage) {
    if (const auto pending = TRY(journal_.Read())) {
      return Error(ErrorKind::kConflict, fmt::format("the change to {} is still under way; end it first", pending->to));
    }
    Say("looking at what there is");
    host::BlobStore contents = TRY(journal_.OpenBlobs());
    Change change = TRY(stage(contents));
    change.boot_id = TRY(BootId(host_.root));
    if (change.steps.empty()) {
      TRY(journal_.Close());
      return Ending::kNothingToDo;
    }
    TRY(journal_.Write(change));
    Say(fmt::format("applying {}", change.to));
    if (auto put = PutAll(host_, contents, change.steps); !put) return Undo(change, contents, std::move(put).error());
    TRY(Enter(Phase::kApplied, change));
    return EndOf(change, contents);
  }

  Result<Recovery> Recover() {
    auto change = TRY(journal_.Read());
    if (!change) return Recovery::kNothingToDo;
    const host::BlobStore contents = TRY(journal_.OpenBlobs());
    if (change->phase != Phase::kApplied) {
      Say(fmt::format("undoing the change to {}, which was cut short", change->to));
      TRY(PutBack(*change, contents));
      return Recovery::kUndone;
    }
    const bool has_rebooted = change->boot_id != TRY(BootId(host_.root));
    if (!has_rebooted) return RecoveryOf(TRY(EndOf(*change, contents)));
    TRY(Verify(*change, contents));
    return Recovery::kFinished;
  }

 private:
  static Recovery RecoveryOf(Ending ending) {
    return ending == Ending::kRebootNeeded ? Recovery::kRebootNeeded : Recovery::kFinished;
  }

  // A crash from here on is followed by what the phase says.
  Result<> Enter(Phase phase, Change& change) {
    change.phase = phase;
    return journal_.Write(change);
  }

  void Say(const std::string& doing) const {
    if (progress_) progress_(doing);
  }

  // From where everything is put.
  Result<Ending> EndOf(Change& change, const host::BlobStore& contents) {
    if (HasReboot(change.actions)) return Ending::kRebootNeeded;
    Say("reloading and restarting what has changed");
    if (auto acted = Act(host_, change.actions, change.steps); !acted)
      return Undo(change, contents, std::move(acted).error());
    TRY(Verify(change, contents));
    return Ending::kDone;
  }

  Result<> Verify(Change& change, const host::BlobStore& contents) {
    Say("checking that everything is as wanted");
    const auto check = [&]() -> Result<> {
      const auto findings = TRY(FindingsIn(host_, change.steps));
      if (!findings.empty()) return Error(ErrorKind::kInvalid, TextOf(findings, change.to));
      return {};
    };
    if (auto checked = check(); !checked) return Undo(change, contents, std::move(checked).error());
    return journal_.Close();
  }

  // Returns the error that made it necessary, with what else went wrong on the way back.
  Error Undo(Change& change, const host::BlobStore& contents, Error reason) {
    Say(fmt::format("undoing it, because of this: {}", reason.message()));
    const auto undo = [&]() -> Result<> {
      if (change.phase == Phase::kApplied) TRY(Enter(Phase::kUndoing, change));
      return PutBack(change, contents);
    };
    std::string message = reason.message();
    // A service that did not come up with the new files may not have come up with the old ones either.
    if (const auto undone = undo(); !undone && undone.error().message() != message) {
      message += "; and when this was undone: " + undone.error().message();
    }
    return Error(reason.kind(), std::move(message)).While(fmt::format("applying {}", change.to));
  }

  Result<> PutBack(const Change& change, const host::BlobStore& contents) {
    TRY(PutAll(host_, contents, change.undo));
    // Services that run with the new files get the old ones.
    const auto acted = Act(host_, change.phase == Phase::kUndoing ? Actions(change.actions) : Actions(), change.undo);
    TRY(journal_.Close());
    return acted;
  }

  const host::Host& host_;
  Journal journal_;
  const Progress& progress_;
};

}  // namespace

Result<Ending> Apply(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                     const plan::Plan& plan, const Progress& progress) {
  return Changer(host, progress).Make([&](host::BlobStore& contents) { return Stage(host, contents, from, to, plan); });
}

Result<Ending> Restore(const host::Host& host, const plan::ParsedConfig& config, const plan::Plan& plan,
                       const Choice& choice, const Progress& progress) {
  return Changer(host, progress).Make([&](host::BlobStore& contents) {
    return StageAgain(host, contents, config, plan, choice);
  });
}

Result<Recovery> Recover(const host::Host& host, const Progress& progress) { return Changer(host, progress).Recover(); }

}  // namespace pintle::change
