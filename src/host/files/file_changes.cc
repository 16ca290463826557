// SPDX-License-Identifier: Apache-2.0
#include "host/files/file_changes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "host/files/attributes.h"
#include "host/files/directories.h"
#include "host/files/exchange.h"
#include "host/files/existing.h"
#include "host/files/new_entry.h"
#include "host/files/path_parts.h"
#include "host/files/remedy.h"
#include "host/files/unsynced.h"
#include "host/files/workspaces.h"
#include "json/field_list.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;
using Place = Directories::Place;

std::string Doing(const FilePut& put) {
  if (!put.want) return "removing " + put.key;
  switch (put.want->kind) {
    case EntryKind::kFile:
      return "writing " + put.key;
    case EntryKind::kDirectory:
      return "making the directory " + put.key;
    case EntryKind::kLink:
      return fmt::format("linking {} to {}", put.key, put.want->target);
  }
  return put.key;
}

Result<> CheckPath(const std::string& path) {
  const std::string name(NameIn(path));
  if (path.starts_with('/') && !name.empty() && name != "." && name != "..") return {};
  return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not an absolute path that ends in a name", path));
}

Error OtherDirectoryError(const std::string& directory) {
  return Error(ErrorKind::kConflict, fmt::format("someone has put another directory in the place of {} meanwhile: see "
                                                 "`pintle verify`",
                                                 directory));
}

// Users can cause any error at a place of theirs.  Such an error must not keep an undo from ending, so it becomes a
// conflict, unless its cause is the state of the machine.
Error ErrorAt(const Directory& directory, Error error) {
  if (!directory.IsShared() || error.errno_value() == 0 || IsFaultOfMachine(error)) return error;
  return Error(ErrorKind::kConflict, WithRemedy(std::move(error)).message());
}

template <typename T>
Result<T> ResultAt(const Directory& directory, Result<T> result) {
  if (result) return result;
  return ErrorAt(directory, std::move(result).error());
}

enum class CommitAction {
  kNothing,  // The entry is as wanted, or a later change of the same place has replaced this change.
  kPlace,    // The new entry is moved to its place, which is empty.
  kReplace,  // The new entry and the old one are exchanged, and the old one is removed.
  kAdjust,   // A directory stays, and its owner, permissions and attributes are set.
  kRemove,
};

struct PreparedChange {
  std::optional<FileState> want;
  CommitAction action = CommitAction::kNothing;
  Identity directory;  // The directory that contains the entry.
  Exchange exchange;
  WantedAttributes wanted_attributes;  // Used by kAdjust only.
  std::uint64_t number = 0;            // A later call of Prepare() has a higher number.

  Place place() const { return {directory, exchange.name}; }
  bool WasDirectory() const { return exchange.existing && exchange.existing->kind == EntryKind::kDirectory; }
};

// An old entry that was taken out of its place, and has a temporary name until it is removed.
struct OldEntryOfPath {
  std::string path;
  Identity directory;
  Exchange exchange;
  ExistingEntry status;  // When the entry was taken out.

  Place place() const { return {directory, exchange.name}; }
};

}  // namespace

class FileChanges::Work {
 public:
  Work(const Root& root, const BlobStore& blobs, Labels labels)
      : blobs_(blobs), labels_(std::move(labels)), directories_(root), commit_directories_(root) {}

  Result<> Prepare(const FilePut& put, const std::optional<Before>& before) {
    TRY(CheckPath(put.key));
    if (const auto found = prepared_.find(put.key); found != prepared_.end()) Discard(found);
    auto prepared = MakePrepared(put, before);
    if (!prepared) return WithRemedy(std::move(prepared).error()).While(Doing(put));
    prepared->want = put.want;
    prepared->number = ++last_number_;
    if (prepared->action != CommitAction::kNothing) by_place_[prepared->place()] = put.key;
    prepared_.emplace(put.key, *std::move(prepared));
    return {};
  }

  Result<> Commit(const FilePut& put) {
    if (!prepared_.contains(put.key)) {
      TRY(Prepare(put, std::nullopt));
      TRY(SyncAll());
    }
    const auto found = prepared_.find(put.key);
    // A later change of the same path has replaced this change, and will be committed later.
    if (!json::Equal(found->second.want, put.want)) return {};
    if (auto done = CarryOut(put.key, found->second); !done) {
      return WithRemedy(std::move(done).error()).While(Doing(put));
    }
    FinishCommit(found);
    return {};
  }

  Result<> RemoveOldEntries() {
    return RemoveOldEntriesIf([](const OldEntryOfPath&) { return true; });
  }

  Result<> Sync() {
    TRY(RemoveOldEntries());
    if (prepared_.empty()) RemoveWorkspaces();
    return SyncAll();
  }

  void Abandon() {
    // Old entries that someone has edited are put back.  Old entries that cannot be removed now are removed when their
    // path is put again.
    for (const OldEntryOfPath& old_entry : std::exchange(old_entries_, {})) static_cast<void>(Remove(old_entry));
    // The last prepared entry is discarded first, so that each directory is empty when it is discarded.
    while (!prepared_.empty()) {
      Discard(std::max_element(prepared_.begin(), prepared_.end(),
                               [](const auto& a, const auto& b) { return a.second.number < b.second.number; }));
    }
    RemoveWorkspaces();
  }

 private:
  using PreparedIterator = std::unordered_map<std::string, PreparedChange>::iterator;
  using DirectoryPtr = Directories::DirectoryPtr;

  // ---- directories --------------------------------------------------------------------------------------------------

  // Opens the directory of a path.  For the first path on a file system, also opens the descriptor that later reports
  // failed writes; it must be open before the first write (unsynced.h).
  Result<DirectoryPtr> OpenAbove(const std::string& path) {
    DirectoryPtr directory = TRY(directories_.Open(DirectoryAbove(path)));
    const std::uint64_t device = directory->identity().device;
    if (!unsynced_.contains(device)) unsynced_.emplace(device, Unsynced(TRY(directory->OpenToRead())));
    return directory;
  }

  // Looks up the directory of a path again.  It is an error if this is not the directory in which the change was
  // prepared.
  Result<DirectoryPtr> OpenAboveAgain(const std::string& path, const Identity& identity) {
    const std::string above = DirectoryAbove(path);
    auto directory = commit_directories_.Open(above);
    if (!directory && !IsFaultOfMachine(directory.error())) return OtherDirectoryError(above);
    if (directory && (*directory)->identity() != identity) return OtherDirectoryError(above);
    return directory;
  }

  // Returns an error if names in the directory cannot be changed.
  Result<> CheckChangeable(const Directory& directory) {
    if (changeable_.contains(directory.identity())) return {};
    TRY(CheckNotImmutable(directory.attributes(), "the directory " + directory.path()));
    if (::faccessat(directory.fd(), ".", W_OK, AT_EACCESS) != 0) {
      return Error::FromErrno("the directory " + directory.path());
    }
    changeable_.insert(directory.identity());
    return {};
  }

  void RemoveWorkspaces() {
    const auto all = workspaces_.all();
    for (const auto& [identity, path] : all) {
      const auto directory = commit_directories_.Open(path);
      if (directory && (*directory)->identity() == identity) workspaces_.RemoveFrom(**directory);
    }
  }

  // ---- preparing ----------------------------------------------------------------------------------------------------

  Result<PreparedChange> MakePrepared(const FilePut& put, const std::optional<Before>& before) {
    auto opened = OpenAbove(put.key);
    if (!opened) {
      const int reason = opened.error().errno_value();
      if (!put.want && (reason == ENOENT || reason == ENOTDIR)) return PreparedChange();
      // The directory could be opened when the place was observed, so someone has changed the path.
      if (before && !IsFaultOfMachine(opened.error())) {
        return Error(ErrorKind::kConflict, opened.error().message() + ": see `pintle verify`");
      }
      return std::move(opened).error();
    }
    return ResultAt(**opened, MakePreparedIn(**opened, put, before));
  }

  Result<PreparedChange> MakePreparedIn(const Directory& directory, const FilePut& put,
                                        const std::optional<Before>& before) {
    PreparedChange prepared;
    prepared.directory = directory.identity();
    Exchange& exchange = prepared.exchange;
    exchange.name = NameIn(put.key);
    TRY(RemoveOldEntriesIf([&](const OldEntryOfPath& old_entry) { return old_entry.place() == prepared.place(); }));
    if (const auto earlier = FindChangeByOtherPath(put.key, prepared.place()); earlier != prepared_.end()) {
      if (json::Equal(earlier->second.want, put.want)) return prepared;  // The earlier change suffices.
      Drop(earlier);
    }
    // Leftovers are cleared even if the entry is as wanted, since nobody else clears them.
    TRY(workspaces_.ClearLeftovers(directory, exchange.name));
    exchange.existing = TRY(FindExisting(directory.fd(), exchange.name));
    if (before && before->state != nullptr) exchange.seen = *before->state;
    exchange.is_fresh = exchange.existing && !IsUnchangedSince(*exchange.existing, std::chrono::system_clock::now());
    TRY(put.want ? MakeReadyToPut(put, before, directory, prepared) : MakeReadyToRemove(before, directory, prepared));
    return prepared;
  }

  // Two paths may lead to the same place.  Returns the change of the place by another path than `path`, or
  // prepared_.end().
  PreparedIterator FindChangeByOtherPath(const std::string& path, const Place& place) {
    const auto by_place = by_place_.find(place);
    if (by_place == by_place_.end() || by_place->second == path) return prepared_.end();
    return prepared_.find(by_place->second);
  }

  // Makes a change do nothing, because a later change of the same place wins.
  void Drop(PreparedIterator earlier) {
    RemoveMade(earlier->first, earlier->second);
    earlier->second.action = CommitAction::kNothing;
  }

  Result<> MakeReadyToRemove(const std::optional<Before>& before, const Directory& directory,
                             PreparedChange& prepared) {
    const std::string& name = prepared.exchange.name;
    if (!prepared.exchange.existing) return {};
    TRY(CheckChangeable(directory));
    TRY(CheckNotImmutable(prepared.exchange.existing->statx_flags, "it"));
    TRY(CheckNotMounted(*prepared.exchange.existing));
    if (before && !IsKnownUnchanged(*before, *prepared.exchange.existing)) {
      const UniqueFd opened = TRY(OpenExisting(directory, name, *prepared.exchange.existing));
      const auto have = TRY(ReadAttributes(opened.get(), HowOpened(prepared.exchange.existing->kind)));
      TRY(CheckAsBefore(*before, *prepared.exchange.existing, opened.get(), have));
    }
    prepared.action = CommitAction::kRemove;
    return {};
  }

  Result<> MakeReadyToPut(const FilePut& put, const std::optional<Before>& before, const Directory& directory,
                          PreparedChange& prepared) {
    const FileState& want = *put.want;
    const std::string& name = prepared.exchange.name;
    const auto& existing = prepared.exchange.existing;
    const bool is_same_kind = existing && existing->kind == want.kind;
    WantedAttributes wanted_attributes = TRY(AttributesOfNewEntry(put));
    if (is_same_kind && before && IsKnownUnchanged(*before, *existing) && !Matches(want, *before->state)) {
      // The observation proves that the file differs from `want` and is unedited, so it need not be opened.
      TakeOver(TRY(FromText(*before->state->attributes)), wanted_attributes);
    } else if (existing && (is_same_kind || before)) {
      // Otherwise the entry itself is read.
      const UniqueFd opened = TRY(OpenExisting(directory, name, *existing));
      Attributes have = TRY(ReadAttributes(opened.get(), HowOpened(existing->kind)));
      if (is_same_kind && TRY(IsAsWanted(want, *existing, opened.get(), wanted_attributes, have))) return {};
      if (before) TRY(CheckAsBefore(*before, *existing, opened.get(), have));
      if (is_same_kind && existing->kind != EntryKind::kDirectory) TakeOver(std::move(have), wanted_attributes);
    } else if (before && before->state != nullptr) {
      // The entry was there when it was observed, so someone has removed it.
      return EditedError();
    }
    TRY(CheckChangeable(directory));
    if (existing) TRY(CheckNotImmutable(existing->statx_flags, "the existing entry"));
    if (is_same_kind && existing->kind == EntryKind::kDirectory) {
      prepared.action = CommitAction::kAdjust;
      prepared.wanted_attributes = std::move(wanted_attributes);
      return {};
    }
    if (existing) TRY(CheckReplaceable(directory, prepared));
    return MakeBeside(put, directory, wanted_attributes, prepared);
  }

  // Makes the new entry under its temporary name.
  Result<> MakeBeside(const FilePut& put, const Directory& directory, const WantedAttributes& wanted_attributes,
                      PreparedChange& prepared) {
    const std::string& name = prepared.exchange.name;
    const int at = TRY(workspaces_.For(directory));
    auto made = MakeEntry(at, name, *put.want, wanted_attributes, blobs_);
    if (!made) {
      // The first error is the one to report.
      static_cast<void>(ClearTemporaryName(at, name));
      return std::move(made).error();
    }
    prepared.exchange.new_entry = made->identity;
    prepared.action = prepared.exchange.existing ? CommitAction::kReplace : CommitAction::kPlace;
    if (put.want->kind == EntryKind::kDirectory) AddNewDirectory(directory, prepared);
    if (made->fd) unsynced_.at(directory.identity().device).Add(std::move(made->fd));
    return {};
  }

  void AddNewDirectory(const Directory& directory, const PreparedChange& prepared) {
    directories_.AddNewDirectory(
        prepared.place(),
        {workspaces_.NamesTo(directory, TemporaryNameOf(prepared.exchange.name)), *prepared.exchange.new_entry});
  }

  // Returns the attributes that the config or the SELinux policy wants.  If an entry of the same kind is there,
  // TakeOver() adds its attributes.
  Result<WantedAttributes> AttributesOfNewEntry(const FilePut& put) const {
    if (put.want->attributes) {
      auto attributes = TRY(FromText(*put.want->attributes));
      return WantedAttributes{std::move(attributes), OtherAttributes::kRemove};
    }
    WantedAttributes wanted_attributes;
    if (const auto label = labels_.AttributeFor(put.key, put.want->kind)) {
      wanted_attributes.attributes[kSelinuxLabel] = *label;
    }
    return wanted_attributes;
  }

  // If the config does not mention attributes, the new entry takes over the attributes of the old entry, except for
  // security attributes, which follow from the policy and the contents.
  static void TakeOver(Attributes have, WantedAttributes& wanted_attributes) {
    if (wanted_attributes.others == OtherAttributes::kRemove) return;
    std::erase_if(have, [](const auto& attribute) { return attribute.first.starts_with("security."); });
    wanted_attributes.attributes.merge(std::move(have));
    wanted_attributes.others = OtherAttributes::kRemove;
  }

  // Compares the file with `before` without opening it.  Returns false if its contents have to be read to be sure.
  bool IsKnownUnchanged(const Before& before, const ExistingEntry& existing) const {
    if (before.state == nullptr || before.fingerprint != FingerprintOf(existing)) return false;
    const FileState& was = *before.state;
    return was.kind == EntryKind::kFile && existing.kind == was.kind && was.attributes &&
           existing.permissions == was.permissions && existing.user == was.user.id && existing.group == was.group.id &&
           blobs_.SizeOf(was.sha256) == existing.size;
  }

  // Returns EditedError() unless the entry still has the state that was observed.
  Result<> CheckAsBefore(const Before& before, const ExistingEntry& existing, int opened,
                         const Attributes& have) const {
    if (before.state == nullptr) return EditedError();
    // The state of a directory itself does not matter.  Its entries do, and each of them is compared separately.
    if (existing.kind == EntryKind::kDirectory && before.state->kind == existing.kind) return {};
    if (TRY(IsInState(*before.state, existing, opened, have, blobs_))) return {};
    return EditedError();
  }

  Result<bool> IsAsWanted(const FileState& want, const ExistingEntry& existing, int opened,
                          const WantedAttributes& wanted_attributes, const Attributes& have) const {
    for (const auto& [name, value] : wanted_attributes.attributes) {
      if (const auto found = have.find(name); found == have.end() || found->second != value) return false;
    }
    return IsInState(want, existing, opened, have, blobs_);
  }

  // Returns an error if something is mounted on the entry that the new one replaces, or if that entry is a directory
  // and this change does not remove everything in it first.
  Result<> CheckReplaceable(const Directory& directory, const PreparedChange& prepared) const {
    TRY(CheckNotMounted(*prepared.exchange.existing));
    if (prepared.exchange.existing->kind != EntryKind::kDirectory) return {};
    const UniqueFd opened = TRY(OpenExisting(directory, prepared.exchange.name, *prepared.exchange.existing));
    for (const std::string& name : TRY(ListOpen(opened))) {
      const auto by_place = by_place_.find({prepared.exchange.existing->identity, name});
      if (by_place == by_place_.end()) return NotEmptyError();
      const auto found = prepared_.find(by_place->second);
      if (found == prepared_.end() || found->second.action != CommitAction::kRemove) return NotEmptyError();
    }
    return {};
  }

  // ---- committing ---------------------------------------------------------------------------------------------------

  Result<> CarryOut(const std::string& path, const PreparedChange& prepared) {
    if (prepared.action == CommitAction::kNothing) return {};
    const DirectoryPtr directory = TRY(OpenAboveAgain(path, prepared.directory));
    return ResultAt(*directory, CarryOutIn(*directory, path, prepared));
  }

  Result<> CarryOutIn(const Directory& directory, const std::string& path, const PreparedChange& prepared) {
    if (prepared.action == CommitAction::kAdjust) return Adjust(directory, prepared);
    TRY(unsynced_.at(directory.identity().device).AddDirectory(directory));
    if (prepared.WasDirectory()) TRY(ClearTemporaryNames(prepared.exchange.existing->identity));
    const bool needs_no_workspace = prepared.action == CommitAction::kRemove && prepared.WasDirectory();
    const int workspace = needs_no_workspace ? -1 : TRY(workspaces_.For(directory));
    const ExchangeDirectories directories = {directory, workspace};
    const Exchange& exchange = prepared.exchange;
    if (prepared.action == CommitAction::kPlace) return PutInPlace(directories, exchange, *prepared.want, blobs_);
    auto old_entry = prepared.action == CommitAction::kReplace
                         ? TRY(Replace(directories, exchange, *prepared.want, blobs_))
                         : TRY(MoveAside(directories, exchange, blobs_));
    if (old_entry) old_entries_.push_back({path, prepared.directory, exchange, *old_entry});
    return {};
  }

  Result<> Adjust(const Directory& directory, const PreparedChange& prepared) {
    const auto existing = TRY(FindExisting(directory.fd(), prepared.exchange.name));
    const ExistingEntry& was = *prepared.exchange.existing;
    const bool is_same = existing && existing->identity == was.identity && existing->user == was.user &&
                         existing->group == was.group && existing->permissions == was.permissions;
    if (!is_same) return EditedError();
    UniqueFd entry = TRY(OpenExisting(directory, prepared.exchange.name, *existing));
    TRY(SetMetadata(entry.get(), *prepared.want, prepared.wanted_attributes));
    unsynced_.at(directory.identity().device).Add(std::move(entry));
    return {};
  }

  Result<> Remove(const OldEntryOfPath& old_entry) {
    const DirectoryPtr directory = TRY(OpenAboveAgain(old_entry.path, old_entry.directory));
    return WithRemedy(ResultAt(*directory, RemoveIn(*directory, old_entry)));
  }

  Result<> RemoveIn(const Directory& directory, const OldEntryOfPath& old_entry) {
    const int workspace = TRY(workspaces_.For(directory));
    const ExchangeDirectories directories = {directory, workspace};
    return DeleteOldEntry(directories, old_entry.exchange, old_entry.status, blobs_);
  }

  // Begins with the last entry, so that removing all of them moves none within the vector.
  template <typename Choice>
  Result<> RemoveOldEntriesIf(const Choice& is_chosen) {
    for (std::size_t i = old_entries_.size(); i-- > 0;) {
      if (!is_chosen(old_entries_[i])) continue;
      const OldEntryOfPath old_entry = std::move(old_entries_[i]);
      old_entries_.erase(old_entries_.begin() + static_cast<std::ptrdiff_t>(i));
      TRY(Remove(old_entry), "removing the old entry at " + old_entry.path);
    }
    return {};
  }

  // Removes the old entries with temporary names, and the workspace, from a directory that is about to be removed.
  Result<> ClearTemporaryNames(const Identity& directory) {
    TRY(RemoveOldEntriesIf([&](const OldEntryOfPath& old_entry) { return old_entry.directory == directory; }));
    const auto workspace = workspaces_.all().find(directory);
    if (workspace == workspaces_.all().end()) return {};
    workspaces_.RemoveFrom(*TRY(commit_directories_.Open(workspace->second)));
    return {};
  }

  // ---- ending -------------------------------------------------------------------------------------------------------

  Result<> SyncAll() {
    for (auto& [device, unsynced] : unsynced_) {
      if (auto synced = unsynced.Sync(); !synced) {
        return WithRemedy(std::move(synced).error())
            .While(fmt::format("syncing the file system {}:{}", gnu_dev_major(device), gnu_dev_minor(device)));
      }
    }
    return {};
  }

  // Forgets a change that was committed.  After a directory was made or removed, paths through it have to be looked up
  // again.
  void FinishCommit(PreparedIterator committed) {
    const PreparedChange& prepared = committed->second;
    const bool is_new_directory = prepared.exchange.new_entry && prepared.want->kind == EntryKind::kDirectory;
    if (is_new_directory || prepared.WasDirectory()) ForgetNewDirectory(committed->first, prepared.place());
    if (prepared.WasDirectory() && prepared.action != CommitAction::kAdjust) {
      directories_.ForgetAll();
      commit_directories_.ForgetAll();
    }
    ErasePrepared(committed);
  }

  void ForgetNewDirectory(const std::string& path, const Place& place) {
    for (Directories* directories : {&directories_, &commit_directories_}) {
      directories->ForgetNewDirectory(place);
      directories->Forget(path);
    }
  }

  void ErasePrepared(PreparedIterator found) {
    if (const auto by_place = by_place_.find(found->second.place());
        by_place != by_place_.end() && by_place->second == found->first) {
      by_place_.erase(by_place);
    }
    prepared_.erase(found);
  }

  // Removes the new entry and forgets the change.  If removing fails, the new entry is removed when the path is put
  // again.
  void Discard(PreparedIterator found) {
    RemoveMade(found->first, found->second);
    ErasePrepared(found);
  }

  // Removes the new entry under its temporary name, if it was made.
  void RemoveMade(const std::string& path, const PreparedChange& prepared) {
    if (!prepared.exchange.new_entry) return;
    ForgetNewDirectory(path, prepared.place());
    const auto directory = OpenAbove(path);
    const auto at = directory ? workspaces_.For(**directory) : Result<int>(-1);
    if (at && *at >= 0) static_cast<void>(ClearTemporaryName(*at, prepared.exchange.name));
  }

  const BlobStore& blobs_;
  Labels labels_;
  // Prepare() and Discard() use directories that stay open.  A commit uses directories that are looked up again, so
  // that nothing is moved into a new directory before that directory is in its own place.
  Directories directories_;
  Directories commit_directories_;
  Workspaces workspaces_;
  std::set<Identity> changeable_;  // Directories that CheckChangeable() has accepted.
  std::unordered_map<std::string, PreparedChange> prepared_;
  std::map<Place, std::string> by_place_;  // The keys of `prepared_` by the places that their paths lead to.
  std::vector<OldEntryOfPath> old_entries_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Unsynced> unsynced_;
};

FileChanges::FileChanges(const Root& root, const BlobStore& blobs, Labels labels)
    : work_(std::make_unique<Work>(root, blobs, std::move(labels))) {}

FileChanges::~FileChanges() { Abandon(); }

Result<> FileChanges::Prepare(const FilePut& put, const std::optional<Before>& before) {
  return work_->Prepare(put, before);
}
Result<> FileChanges::Commit(const FilePut& put) { return work_->Commit(put); }
Result<> FileChanges::RemoveOldEntries() { return work_->RemoveOldEntries(); }
Result<> FileChanges::Sync() { return work_->Sync(); }
void FileChanges::Abandon() { work_->Abandon(); }

Result<> Put(const Root& root, const BlobStore& blobs, const FilePut& put, Labels labels) {
  FileChanges changes(root, blobs, std::move(labels));
  TRY(changes.Prepare(put));
  TRY(changes.Sync());
  TRY(changes.Commit(put));
  return changes.Sync();
}

}  // namespace pintle::host
