// SPDX-License-Identifier: Apache-2.0
#include "change/put.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "change/link_changes.h"
#include "host/authorized_keys.h"
#include "host/files/file_changes.h"
#include "host/files/remedy.h"
#include "host/password_hash.h"
#include "machineconfig/own_files.h"

namespace pintle::change {
namespace {

using plan::Step;
using resource::AuthorizedKeys;
using resource::FileEntry;
using resource::PasswordHash;
using resource::Put;
using resource::UnitLinks;
using resource::UnitState;

template <typename R>
std::vector<Put<R>> PutsIn(std::span<const Step> steps) {
  std::vector<Put<R>> found;
  for (const Step& step : steps) {
    if (const auto* put = std::get_if<Put<R>>(&step)) found.push_back(*put);
  }
  return found;
}

// Returns the steps for one kind of things, by key.
template <typename R>
std::unordered_map<std::string_view, const Put<R>*> ByKey(std::span<const Step> steps) {
  std::unordered_map<std::string_view, const Put<R>*> found;
  for (const Step& step : steps) {
    if (const auto* put = std::get_if<Put<R>>(&step)) found.emplace(put->key, put);
  }
  return found;
}

// Puts steps.  Subclasses decide what happens if someone has edited a thing, or has put something in its way.
class StepPutter {
 public:
  StepPutter(const host::Host& host, const host::BlobStore& contents, const ExpectedStates& before)
      : host_(host), contents_(contents), before_(before) {}
  virtual ~StepPutter() = default;

  Result<> PutSteps(std::span<const Step> steps) {
    TRY(PutFiles(PutsIn<FileEntry>(steps)));
    if (const auto units = PutsIn<UnitState>(steps); !units.empty()) TRY(host_.systemd.PutEnablement(units));
    for (const auto& put : PutsIn<UnitLinks>(steps)) TRY(OnPutResult(PutLinks(*put.want)));
    for (const auto& put : PutsIn<AuthorizedKeys>(steps)) TRY(OnUserThingResult(PutKeys(put)));
    for (const auto& put : PutsIn<PasswordHash>(steps)) TRY(OnUserThingResult(PutHash(put)));
    return {};
  }

 protected:
  // Handles the outcome of putting one thing: returns an error that ends everything, or success to continue.
  virtual Result<> OnPutResult(Result<> result) { return result; }
  // Like OnPutResult(), for the outcome of a commit.  The commit was prepared without an error, so a failure means that
  // someone has interfered since.
  virtual Result<> OnCommitResult(Result<> result) { return result; }
  // Like OnPutResult(), for an outcome that a user may have caused.
  virtual Result<> OnUserThingResult(Result<> result) { return host::WithRemedy(std::move(result)); }
  // Returns whether a file is put even if someone has edited it.
  virtual bool IsPutAnyway(const std::string&) const { return false; }

  // New files are first written beside their places and synced once.  Then all of them are moved to their places, and
  // the directories are synced once.
  virtual Result<> PutFiles(const std::vector<host::FilePut>& files) {
    if (files.empty()) return {};
    const auto seen = ByKey<FileEntry>(before_.states);
    host::FileChanges changes(host_.root, contents_, host_.labels);
    std::vector<const host::FilePut*> prepared;
    for (const host::FilePut& file : files) {
      std::optional<host::Before> before;
      if (const auto found = seen.find(file.key); found != seen.end() && !IsPutAnyway(file.key)) {
        const auto& state = found->second->want;
        before = host::Before{state ? &*state : nullptr, FingerprintOf(file.key)};
      }
      auto done = changes.Prepare(file, before);
      if (done) prepared.push_back(&file);
      TRY(OnPutResult(std::move(done)));
    }
    TRY(Sync(changes));
    for (const host::FilePut* file : prepared) TRY(OnCommitResult(changes.Commit(*file)));
    return Sync(changes);
  }

 private:
  std::optional<host::Fingerprint> FingerprintOf(const std::string& path) const {
    if (before_.fingerprints == nullptr) return std::nullopt;
    const auto found = before_.fingerprints->find(path);
    return found == before_.fingerprints->end() ? std::nullopt : std::optional(found->second);
  }

  // Only an old entry that cannot be removed may be left alone.  A file system that cannot be synced ends everything,
  // because nothing on it is known to be durable.
  Result<> Sync(host::FileChanges& changes) {
    for (auto removed = changes.RemoveOldEntries(); !removed; removed = changes.RemoveOldEntries()) {
      TRY(OnCommitResult(std::move(removed)));
    }
    return changes.Sync();
  }

  Result<> PutLinks(const UnitLinks::State& links) const {
    const auto seen = PutsIn<UnitLinks>(before_.states);
    if (seen.empty()) return host_.systemd.PutLinks(links);
    const RestoredLinks back = RestoreLinks(TRY(host_.systemd.ObserveLinks()), links, *seen.front().want);
    TRY(host_.systemd.PutLinks(back.links));
    if (back.edited.empty()) return {};
    return Error(ErrorKind::kConflict,
                 fmt::format("someone has edited these links during the change, and the edits stay: {}",
                             fmt::join(back.edited, ", ")));
  }

  // Returns whether someone has edited a thing, given its present state.
  template <typename R, typename State>
  bool IsEdited(const Put<R>& put, const State& have) const {
    const auto seen = ByKey<R>(before_.states);
    const auto found = seen.find(put.key);
    return found != seen.end() && !host::Matches(put.want, have) && !host::Matches(found->second->want, have);
  }

  Result<> PutKeys(const Put<AuthorizedKeys>& put) const {
    if (IsEdited(put, TRY(host::ObserveAuthorizedKeys(host_.root, put.key)))) return WasEdited("SSH keys", put.key);
    return host::PutAuthorizedKeys(host_.root, put, host_.labels);
  }

  Result<> PutHash(const Put<PasswordHash>& put) const {
    if (IsEdited(put, TRY(host::ObservePasswordHash(host_.root, put.key)))) return WasEdited("password", put.key);
    return host::PutPasswordHash(host_.root, put, host_.clock);
  }

  static Error WasEdited(std::string_view thing, const std::string& user) {
    return Error(
        ErrorKind::kConflict,
        fmt::format("someone has edited the {} of {} during the change, and the edit stays: see `pintle verify`", thing,
                    user));
  }

  const host::Host& host_;
  const host::BlobStore& contents_;
  const ExpectedStates before_;
};

// Leaves alone what someone has edited or put in the way, and collects the reasons.  If a thing cannot be put for
// another reason, all others are put, and then the error is returned.  Only a fault of the machine, such as a disk
// error, ends the work at once.
class UndoPutter final : public StepPutter {
 public:
  using StepPutter::StepPutter;

  // Returns the reasons why things were left alone.
  Result<std::vector<std::string>> End() && {
    if (!first_error_) return std::move(left_);
    left_.push_back(first_error_->message());
    return Error(first_error_->kind(), fmt::format("{}", fmt::join(left_, "; ")));
  }

 private:
  // Someone who interferes can obstruct more than one file, such as all entries of a directory.  So if one file cannot
  // be committed, all files are put again, up to this many times in total.
  static constexpr int kTries = 3;

  Result<> PutFiles(const std::vector<host::FilePut>& files) override {
    for (int tries = 1;; ++tries) {
      was_disturbed_ = false;
      TRY(StepPutter::PutFiles(files));
      if (!was_disturbed_ || tries == kTries) return {};
      left_.clear();
      first_error_.reset();
    }
  }

  Result<> OnPutResult(Result<> result) override {
    if (result || host::IsFaultOfMachine(result.error())) return result;
    if (result.error().kind() == ErrorKind::kConflict) return Leave(result.error());
    if (first_error_) return Leave(result.error());
    first_error_ = host::WithRemedy(std::move(result).error());
    return {};
  }
  Result<> OnCommitResult(Result<> result) override {
    was_disturbed_ = was_disturbed_ || !result;
    return OnPutResult(std::move(result));
  }
  Result<> OnUserThingResult(Result<> result) override {
    if (result) return {};
    if (host::IsFaultOfMachine(result.error())) return host::WithRemedy(std::move(result));
    // Another program that changes the users holds its lock only for a while, so the undo is tried again.
    return result.error().kind() == ErrorKind::kUnavailable ? OnPutResult(std::move(result)) : Leave(result.error());
  }

  // Pintle's own records of the machine must be put back with the rest.
  bool IsPutAnyway(const std::string& path) const override { return machineconfig::IsOwnFile(path); }

  Result<> Leave(const Error& error) {
    left_.push_back(error.message());
    return {};
  }

  std::vector<std::string> left_;
  std::optional<Error> first_error_;  // The first error that is not a conflict.
  bool was_disturbed_ = false;
};

}  // namespace

Result<> PutAll(const host::Host& host, const host::BlobStore& contents, std::span<const Step> steps,
                const ExpectedStates& before) {
  return StepPutter(host, contents, before).PutSteps(steps);
}

Result<std::vector<std::string>> UndoSteps(const host::Host& host, const host::BlobStore& contents,
                                           const ChangeSteps& change) {
  // Each thing is as the change has put it, or still as the undo wants it, unless someone has edited it since.
  UndoPutter putter(host, contents, {change.done});
  TRY(putter.PutSteps(change.undo));
  return std::move(putter).End();
}

}  // namespace pintle::change
