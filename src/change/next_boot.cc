// SPDX-License-Identifier: Apache-2.0
#include "change/next_boot.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "change/act.h"
#include "change/findings.h"
#include "change/journal.h"
#include "change/owners.h"
#include "change/put.h"
#include "change/whose_deployment.h"
#include "host/architecture.h"
#include "host/authorized_keys.h"
#include "host/files/files.h"
#include "host/files/remedy.h"
#include "host/password_hash.h"
#include "host/systemd/systemd_offline.h"
#include "machineconfig/own_files.h"
#include "plan/extensions.h"

namespace pintle::change {
namespace {

using host::FilePut;
using plan::Step;
using resource::Put;

constexpr const char* kFinalizer = "pintle-finalize-staged.service";
// A start of kFinalizer that takes longer than this counts as hung.
constexpr auto kFinalizerStartPatience = std::chrono::minutes(1);

// The part of the machine to which a path belongs: the /etc of a deployment, the shared /var, or the OS image.
enum class MachinePart { kDeployment, kShared, kImage };

bool IsIn(std::string_view directory, std::string_view path) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

Result<MachinePart> PartOf(const Root& root, const std::string& path) {
  std::string above = host::DirectoryAbove(path);
  while (!TRY(root.Status(above))) above = host::DirectoryAbove(above);
  const std::string place = TRY(root.RealPath(above));
  if (IsIn("/etc", place)) return MachinePart::kDeployment;
  return IsIn("/var", place) ? MachinePart::kShared : MachinePart::kImage;
}

// Returns an error if the step puts a file into the OS image, which cannot be changed.
Result<> CheckPlace(const Root& root, const Step& step) {
  const auto* file = std::get_if<FilePut>(&step);
  if (file == nullptr || TRY(PartOf(root, file->key)) != MachinePart::kImage) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("{} is neither in /etc nor in /var, and belongs to the OS image; put it elsewhere, or build "
                           "an image that has it",
                           file->key));
}

// Returns an error if a directory is in the place of a file, and the change does not remove all of its entries.  The
// next deployment gets its files at shutdown, and then it would be too late to report this.
Result<> CheckForDirectories(const Root& root, const std::vector<Step>& steps) {
  std::set<std::string> removed;
  for (const Step& step : steps) {
    if (const auto* file = std::get_if<FilePut>(&step); file != nullptr && !file->want) removed.insert(file->key);
  }
  for (const Step& step : steps) {
    const auto* file = std::get_if<FilePut>(&step);
    if (file == nullptr || !file->want || file->want->kind == resource::EntryKind::kDirectory) continue;
    const auto status = TRY(root.Status(file->key));
    if (!status || !S_ISDIR(status->st_mode)) continue;
    for (const std::string& name : TRY(root.List(file->key))) {
      if (removed.contains(file->key + "/" + name)) continue;
      return Error(
          ErrorKind::kInvalid,
          fmt::format("the config has a file at {}, but there is a directory with {} in it: move the directory away",
                      file->key, name));
    }
  }
  return {};
}

// Identifies the thing that a step is about, by its kind and its name.
using ThingId = std::pair<std::size_t, std::string>;
ThingId ThingOf(const Step& step) {
  const auto key = [](const auto& put) -> std::string {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(put.key)>, std::string>) return put.key;
    return "";
  };
  return {step.index(), std::visit(key, step)};
}

Result<bool> IsAsWanted(const Root& root, const FilePut& put) {
  const auto have = TRY(host::Observe(root, put.key));
  return have && put.want ? host::Matches(*put.want, *have) : !have && !put.want;
}

// Returns whether a thing is as it was when the change was staged.  The undo step has that state.
class IsAsBefore {
 public:
  explicit IsAsBefore(const host::Host& host) : host_(host) {}

  Result<bool> operator()(const FilePut& undo) const { return IsAsWanted(host_.root, undo); }
  Result<bool> operator()(const Put<resource::AuthorizedKeys>& undo) const {
    return host::Matches(undo.want, TRY(host::ObserveAuthorizedKeys(host_.root, undo.key)));
  }
  Result<bool> operator()(const Put<resource::PasswordHash>& undo) const {
    return host::Matches(undo.want, TRY(host::ObservePasswordHash(host_.root, undo.key)));
  }
  template <typename R>
  Result<bool> operator()(const Put<R>&) const {
    return true;
  }

 private:
  const host::Host& host_;
};

Error EditedError(const Step& step, const Change& change) {
  return Error(ErrorKind::kConflict,
               fmt::format("{} was edited while the change to {} waited for the reboot, and the change would "
                           "overwrite the edit; see `pintle verify`",
                           ThingOf(step).second, change.to));
}

// Returns an error if someone has edited a thing of the change while the deployment waited for the reboot.  Such an
// edit must not be lost silently.
Result<> CheckUntouched(const host::Host& host, const Change& change) {
  for (const Step& step : change.undo) {
    if (!TRY(std::visit(IsAsBefore(host), step))) return EditedError(step, change);
  }
  return {};
}

// Returns the steps by the things that they are about.
std::map<ThingId, const Step*> ByThing(const std::vector<Step>& steps) {
  std::map<ThingId, const Step*> by_thing;
  for (const Step& step : steps) by_thing.emplace(ThingOf(step), &step);
  return by_thing;
}

// Returns whether nobody has edited a thing in the new deployment: it is as the merge of /etc leaves it, or already as
// the change wants it.  The undo step has the state of the old deployment.
class IsAsMerged {
 public:
  IsAsMerged(const host::Host& host, const Step& put) : host_(host), put_(put) {}

  Result<bool> operator()(const FilePut& undo) const {
    if (machineconfig::IsOwnFile(undo.key)) return true;
    const auto have = TRY(host::Observe(host_.root, undo.key));
    if (IsSame(undo.want, have) || IsSame(std::get<FilePut>(put_).want, have)) return true;
    // The file may be the new image's default, if the default differs from that of the old image.
    if (!undo.key.starts_with("/etc/")) return false;
    return IsSame(TRY(host::Observe(host_.root, "/usr" + undo.key)), have);
  }
  Result<bool> operator()(const Put<resource::AuthorizedKeys>& undo) const {
    const auto have = TRY(host::ObserveAuthorizedKeys(host_.root, undo.key));
    const auto& put = std::get<Put<resource::AuthorizedKeys>>(put_);
    return host::Matches(undo.want, have) || host::Matches(put.want, have);
  }
  Result<bool> operator()(const Put<resource::PasswordHash>& undo) const {
    const auto have = TRY(host::ObservePasswordHash(host_.root, undo.key));
    const auto& put = std::get<Put<resource::PasswordHash>>(put_);
    return host::Matches(undo.want, have) || host::Matches(put.want, have);
  }
  template <typename R>
  Result<bool> operator()(const Put<R>&) const {
    return true;
  }

 private:
  using State = resource::FileEntry::State;

  // Labels are not compared, because the new image may have another SELinux policy.  Of directories only the kind is
  // compared, because their entries have steps of their own.
  static bool IsSame(std::optional<State> was, const std::optional<State>& have) {
    if (!was || !have) return !was && !have;
    if (was->kind == resource::EntryKind::kDirectory) return have->kind == was->kind;
    was->attributes.reset();
    return host::Matches(*was, *have);
  }

  const host::Host& host_;
  const Step& put_;
};

// Returns an error if someone has edited a thing of the change in the new deployment.
Result<> CheckAsMerged(const host::Host& host, const Change& change) {
  const auto puts = ByThing(change.steps);
  for (const Step& step : change.undo) {
    const auto put = puts.find(ThingOf(step));
    if (put == puts.end() || TRY(std::visit(IsAsMerged(host, *put->second), step))) continue;
    return EditedError(step, change);
  }
  return {};
}

// Returns whether a thing is as wanted now, but the merge of /etc could change it.
class MayBeMerged {
 public:
  explicit MayBeMerged(const Root& root) : root_(root) {}

  Result<bool> operator()(FilePut& put) const {
    if (TRY(PartOf(root_, put.key)) != MachinePart::kDeployment) return false;
    TRY(ResolveOwners(root_, put));
    return TRY(IsAsWanted(root_, put));
  }
  // A unit that no step changes is as wanted.  But if it is to follow its preset, it is not held: a preset is only a
  // default, which an administrator may have overridden.
  Result<bool> operator()(const Put<resource::UnitState>& put) const {
    return put.want->enablement != resource::Enablement::kPreset;
  }
  template <typename R>
  Result<bool> operator()(const Put<R>&) const {
    return false;
  }

 private:
  const Root& root_;
};

// Returns the steps of `held` that the running machine still fulfils.  Someone has changed the other things, and the
// merge keeps these edits.
Result<std::vector<Step>> StillHeld(const host::Host& host, const std::vector<Step>& held) {
  std::vector<Step> still;
  for (const Step& step : held) {
    const auto* file = std::get_if<FilePut>(&step);
    const bool is_as_wanted = file ? TRY(IsAsWanted(host.root, *file)) : TRY(FindingsIn(host, {&step, 1})).empty();
    if (is_as_wanted) still.push_back(step);
  }
  return still;
}

// Adds steps for the directories that the new image lacks.  The given steps were made for the old image, which may have
// these directories.
Result<std::vector<Step>> WithDirectories(const Root& next, std::vector<Step> steps) {
  std::vector<FilePut> files;
  for (const Step& step : steps) {
    if (const auto* file = std::get_if<FilePut>(&step)) files.push_back(*file);
  }
  std::vector<Step> all;
  for (FilePut& directory : TRY(host::MissingDirectories(next, files))) all.emplace_back(std::move(directory));
  std::move(steps.begin(), steps.end(), std::back_inserter(all));
  return all;
}

// Puts the change, and the things that it holds, into the tree of the next deployment.
Result<> PutInto(const Root& next, const host::Host& host, const host::BlobStore& contents, const Change& change) {
  TRY(CheckUntouched(host, change));
  std::vector<Step> steps = TRY(StillHeld(host, change.next_boot->held));
  std::copy(change.steps.begin(), change.steps.end(), std::back_inserter(steps));
  host::SystemdOffline systemd(next);
  // After the boot, the policy of the new image decides which labels are right.
  const host::Host there{next, systemd, host.clock, host.labels.ForTree(next)};
  return PutAll(there, contents, TRY(WithDirectories(next, std::move(steps))));
}

// Decides how to undo one step on the old deployment.  A step below /etc needs no undo, because it only affects the new
// deployment.  A step that did not take effect may have left a prepared file beside the place; a Put of the present
// state removes that file.
class UndoOnOld {
 public:
  using Undo = Result<std::optional<Step>>;

  UndoOnOld(const host::Host& host, const Step& put) : host_(host), put_(put) {}

  Undo operator()(const FilePut& undo) const {
    if (TRY(PartOf(host_.root, undo.key)) != MachinePart::kShared) return std::nullopt;
    const auto& put = std::get<FilePut>(put_);
    if (TRY(IsAsWanted(host_.root, put))) return undo;
    auto observed = TRY(host::Observe(host_.root, put.key));
    return FilePut{put.key, std::move(observed)};
  }
  Undo operator()(const Put<resource::AuthorizedKeys>& undo) const {
    auto have = TRY(host::ObserveAuthorizedKeys(host_.root, undo.key));
    const auto& put = std::get<Put<resource::AuthorizedKeys>>(put_);
    // The change may have made the folders of the keys, even if the keys are as before.
    const bool is_ours = host::Matches(put.want, have) || host::Matches(undo.want, have);
    return is_ours ? undo : Put<resource::AuthorizedKeys>{undo.key, std::move(have)};
  }
  template <typename R>
  Undo operator()(const Put<R>&) const {
    return std::nullopt;
  }

 private:
  const host::Host& host_;
  const Step& put_;
};

Result<host::WantedPackages> PackagesFor(const host::Host& host, const resource::Deployment::State& before,
                                         const resource::Deployment::State& after) {
  const auto state = TRY(host.deployments->Observe());
  plan::LayeredPackages layered;
  if (state.booted) layered = {state.booted->packages, state.booted->removed_packages};
  plan::PackageChanges changes = TRY(plan::PackagesFor(before, after, layered, TRY(host::Architecture())));
  return host::WantedPackages{std::move(changes.install), std::move(changes.uninstall),
                              std::move(changes.override_remove), std::move(changes.override_reset)};
}

}  // namespace

Result<NextDeployment> NextDeploymentFor(const host::Host& host, const plan::ParsedConfig& from,
                                         const plan::ParsedConfig& to, const plan::Difference& difference) {
  const auto before = plan::DeploymentOf(from.object.spec);
  const auto after = plan::DeploymentOf(to.object.spec);
  NextDeployment next;
  next.wanted.always_new = true;
  next.wanted.must_keep_pending = true;
  next.extensions_image = after.extensions_image;
  if (difference.os_image) next.image = after.image;
  if (difference.kernel_arguments) {
    next.wanted.remove_arguments = before.kernel_arguments;
    next.wanted.add_arguments = after.kernel_arguments;
  }
  next.wanted.packages = TRY(PackagesFor(host, before, after));
  return next;
}

Result<> LeaveToNextBoot(const host::Host& host, Change& change) {
  if (host.deployments == nullptr || !HasReboot(change.actions)) return {};
  const auto state = TRY(host.deployments->Observe());
  if (!state.booted) return {};
  for (const Step& step : change.steps) TRY(CheckPlace(host.root, step));
  TRY(CheckForDirectories(host.root, change.steps));
  change.next_boot.emplace().replaces = state.booted->id;
  if (state.pending) change.next_boot->found_pending = state.pending->id;
  return {};
}

Result<> HoldUnchanged(const host::Host& host, host::BlobStore& contents, const plan::ParsedConfig& to,
                       Change& change) {
  std::set<ThingId> changed;
  for (const Step& step : change.steps) changed.insert(ThingOf(step));
  std::set<std::string> held;
  for (Step& step : TRY(plan::StepsFor(to, to, {}))) {
    if (changed.contains(ThingOf(step)) || !TRY(std::visit(MayBeMerged(host.root), step))) continue;
    if (const auto* file = std::get_if<FilePut>(&step)) held.insert(file->key);
    change.next_boot->held.push_back(std::move(step));
  }
  return plan::ForEachContents(to.ignition, [&](const std::string& path, const WalkPieces& walk) -> Result<> {
    if (held.contains(path)) TRY(contents.AddPieces(walk), path);
    return {};
  });
}

Result<> ArmFinalizer(const host::Host& host) {
  TRY(host.systemd.Run(host::JobKind::kStart, kFinalizer, kFinalizerStartPatience),
      fmt::format("{}, which gives the next deployment its files, is not installed or does not start", kFinalizer));
  return {};
}

Result<> Finalize(const host::Host& host) {
  const Journal journal(host.root);
  auto change = TRY(journal.Read());
  if (!change || !change->next_boot || change->next_boot->is_finalized) return {};
  const auto state = TRY(host.deployments->Observe());
  // If someone else has staged a deployment in place of the change's, that deployment gets none of the change's files.
  // Recover() reports this after the boot.
  if (state.pending && !IsOfChange(*change->next_boot, *state.pending, Rebooted::kNo)) return {};
  if (change->phase != Phase::kApplied) {
    // The change was cut short while it was staged.
    TRY(host.deployments->DropPending());
    return {};
  }
  const host::BlobStore contents = TRY(journal.OpenBlobs());
  const auto finalized = host.deployments->FinalizeStaged([&](const Root& next) -> Result<> {
    TRY(PutInto(next, host, contents, *change));
    change->next_boot->is_finalized = true;
    return journal.Write(*change);
  });
  if (finalized) return {};
  change->phase = Phase::kUndoing;
  change->reason = finalized.error().message();
  TRY(journal.Write(*change));
  return finalized.error();
}

Result<> DropUnfinalized(const host::Host& host) {
  const Journal journal(host.root);
  auto change = TRY(journal.Read());
  if (!change || !change->next_boot) return {};
  const auto state = TRY(host.deployments->Observe());
  const bool is_left =
      state.pending && state.pending->is_staged && IsOfChange(*change->next_boot, *state.pending, Rebooted::kNo);
  if (!is_left) return {};
  TRY(host.deployments->DropPending());
  if (change->phase != Phase::kApplied) return {};
  change->phase = Phase::kUndoing;
  change->reason = fmt::format(
      "at the shutdown, the files of {} were not put into the next deployment, because {} failed or was killed; see "
      "`journalctl --unit={}`",
      change->to, kFinalizer, kFinalizer);
  TRY(journal.Write(*change));
  return Error(ErrorKind::kSystem, change->reason);
}

Result<> CheckBooted(const host::Host& host, const Change& change) {
  std::vector<Step> steps;
  std::copy_if(change.steps.begin(), change.steps.end(), std::back_inserter(steps),
               [](const Step& step) { return std::holds_alternative<Put<resource::Deployment>>(step); });
  const auto findings = TRY(FindingsIn(host, steps));
  return findings.empty() ? Result<>() : Error(ErrorKind::kInvalid, TextOf(findings, change.to));
}

Result<> PutLate(const host::Host& host, const host::BlobStore& contents, const Change& change) {
  TRY(CheckAsMerged(host, change));
  return PutAll(host, contents, TRY(WithDirectories(host.root, change.steps)));
}

Result<std::vector<std::string>> PutSharedBack(const host::Host& host, const host::BlobStore& contents,
                                               const Change& change) {
  const auto puts = ByThing(change.steps);
  std::vector<Step> undo;
  std::vector<std::string> left;
  for (const Step& step : change.undo) {
    const auto put = puts.find(ThingOf(step));
    if (put == puts.end()) continue;
    auto back = std::visit(UndoOnOld(host, *put->second), step);
    if (!back && host::IsFaultOfMachine(back.error())) return std::move(back).error();
    if (!back) {
      left.push_back(back.error().message());
    } else if (*back) {
      undo.push_back(**std::move(back));
    }
  }
  for (std::string& more : TRY(UndoSteps(host, contents, {.undo = undo, .done = change.steps})))
    left.push_back(std::move(more));
  return left;
}

}  // namespace pintle::change
