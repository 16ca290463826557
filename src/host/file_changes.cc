// SPDX-License-Identifier: Apache-2.0
#include "host/file_changes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "host/attributes.h"
#include "host/entry_kind.h"
#include "host/remedy.h"
#include "host/unsynced.h"
#include "json/fields.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using State = resource::FileEntry::State;

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

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
  const std::string_view name = NameOf(path);
  if (path.starts_with('/') && !name.empty() && name != "." && name != "..") return {};
  return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not an absolute path that ends in a name", path));
}

// ---- what is there --------------------------------------------------------------------------------------------------

struct Existing {
  EntryKind kind = EntryKind::kFile;
  std::int64_t permissions = 0;
  std::int64_t user = 0;
  std::int64_t group = 0;
  std::size_t size = 0;
  std::uint64_t attributes = 0;  // STATX_ATTR_...
};

Result<struct statx> Look(int directory, const char* name, int flags) {
  struct statx status = {};
  const int all_flags = flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  if (::statx(directory, name, all_flags, STATX_BASIC_STATS, &status) != 0) return Error::FromErrno("statx");
  return status;
}

Result<std::optional<Existing>> FindExisting(int directory, const std::string& name) {
  const auto status = Look(directory, name.c_str(), 0);
  if (!status && status.error().errno_value() == ENOENT) return std::nullopt;
  if (!status) return status.error();
  Existing existing;
  existing.kind = TRY(KindOf(status->stx_mode));
  existing.permissions = status->stx_mode & 07777;
  existing.user = status->stx_uid;
  existing.group = status->stx_gid;
  existing.size = status->stx_size;
  existing.attributes = status->stx_attributes;
  return existing;
}

Result<> CheckNotImmutable(std::uint64_t attributes, std::string_view what) {
  if ((attributes & STATX_ATTR_IMMUTABLE) != 0) {
    return Error(ErrorKind::kSystem, fmt::format("{} is immutable: `chattr -i` makes it changeable", what));
  }
  if ((attributes & STATX_ATTR_APPEND) != 0) {
    return Error(ErrorKind::kSystem, fmt::format("{} can only be appended to: `chattr -a` makes it changeable", what));
  }
  return {};
}

Result<> CheckNotMounted(const Existing& existing) {
  if ((existing.attributes & STATX_ATTR_MOUNT_ROOT) == 0) return {};
  return Error(ErrorKind::kSystem, "something is mounted there: unmount it");
}

// An entry opened so that its contents and attributes can be read.
Result<UniqueFd> OpenEntry(int directory, const std::string& name, EntryKind kind) {
  int flags = O_NOFOLLOW | O_CLOEXEC;
  if (kind == EntryKind::kFile) flags |= O_RDONLY | O_NONBLOCK | O_NOCTTY;
  if (kind == EntryKind::kDirectory) flags |= O_RDONLY | O_DIRECTORY;
  if (kind == EntryKind::kLink) flags |= O_PATH;
  UniqueFd entry(::openat(directory, name.c_str(), flags));
  if (!entry) return Error::FromErrno("opening what is there");
  return entry;
}

OpenedAs HowOpened(EntryKind kind) { return kind == EntryKind::kLink ? OpenedAs::kPath : OpenedAs::kItself; }

Result<std::string> TargetOf(int link) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = ::readlinkat(link, "", target.data(), target.size());
  if (length < 0) return Error::FromErrno("readlink");
  target.resize(static_cast<std::size_t>(length));
  return target;
}

// ---- making and removing --------------------------------------------------------------------------------------------

struct AttributeGoal {
  Attributes attributes;
  OtherAttributes others = OtherAttributes::kKeep;
};

// The owner first: chown(2) takes set-user-id and capabilities away.  The permissions last: an access list changes
// them.  What is so already is not set: that costs a transaction of the file system each.
Result<> SetAll(int fd, const State& want, const AttributeGoal& goal) {
  const auto user = static_cast<uid_t>(want.user.id);
  const auto group = static_cast<gid_t>(want.group.id);
  const auto permissions = static_cast<mode_t>(want.permissions);
  struct stat status;
  if (::fstat(fd, &status) != 0) return Error::FromErrno("fstat");
  const bool is_owned = status.st_uid == user && status.st_gid == group;
  if (!is_owned && ::fchown(fd, user, group) != 0) return Error::FromErrno("chown");
  const bool had_others = TRY(SetAttributes(fd, OpenedAs::kItself, goal.attributes, goal.others));
  if (is_owned && !had_others && (status.st_mode & 07777) == permissions) return {};
  if (::fchmod(fd, permissions) != 0) return Error::FromErrno("chmod");
  return {};
}

// Nobody may read a new file who may not do so in the end; as long as it has another owner, that is its maker alone.
mode_t FirstPermissions(const State& want, const Owner& maker) {
  const bool is_of_its_maker = want.user.id == maker.uid && want.group.id == maker.gid;
  return is_of_its_maker ? static_cast<mode_t>(want.permissions) & 0777 : 0600;
}

Result<> ClearLeftover(int directory, const std::string& name, const std::string& beside) {
  struct stat status;
  // Looking first: on a disk that is read-only, removing nothing is an error too.
  if (::fstatat(directory, beside.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) return {};
  return ClearBeside(directory, name);
}

// Makes something beside a place, where an attempt that was cut short may have left something.
template <typename Call>
Result<int> MakeNew(const char* what, int directory, std::string_view name, Call&& call) {
  int made = call();
  if (made < 0 && errno == EEXIST) {
    TRY(ClearBeside(directory, name));
    made = call();
  }
  if (made < 0) return Error::FromErrno(what);
  return made;
}

int RemoveName(int directory, const std::string& name, EntryKind kind) {
  return ::unlinkat(directory, name.c_str(), kind == EntryKind::kDirectory ? AT_REMOVEDIR : 0);
}

// Whether a commit met something else than what was there when it was prepared.
bool HasChangedSince(const Error& error) {
  const int reason = error.errno_value();
  return reason == ENOENT || reason == ENOTEMPTY || reason == EEXIST || reason == EISDIR || reason == ENOTDIR;
}

// ---- changes --------------------------------------------------------------------------------------------------------

enum class Way {
  kNothing,   // It is there as wanted.
  kRename,    // What is beside goes to its place.
  kExchange,  // The same, and what was in the place, which cannot be renamed over, is removed.
  kAdjust,    // A directory stays, and gets owner, permissions and attributes.
  kRemove,
};

struct Prepared {
  std::optional<State> want;
  Way way = Way::kNothing;
  EntryKind old_kind = EntryKind::kFile;
  AttributeGoal goal;  // When adjusting.
  std::string beside;  // When renaming or exchanging: under which name.
  std::uint64_t number = 0;
};

struct Directory {
  std::string path;
  UniqueFd fd;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t attributes = 0;
  bool was_checked = false;

  // That names in it can be changed.
  Result<> Check() {
    if (was_checked) return {};
    TRY(CheckNotImmutable(attributes, "the directory " + path));
    if (::faccessat(fd.get(), ".", W_OK, AT_EACCESS) != 0) return Error::FromErrno("the directory " + path);
    was_checked = true;
    return {};
  }
};

}  // namespace

class FileChanges::Work {
 public:
  Work(const Root& root, const BlobStore& blobs, Labels labels)
      : root_(root), blobs_(blobs), labels_(std::move(labels)) {}

  Result<> Prepare(const FilePut& put, const State* was = nullptr) {
    TRY(CheckPath(put.key));
    if (const auto found = prepared_.find(put.key); found != prepared_.end()) Discard(found);
    auto prepared = Make(put, was);
    if (!prepared) return WithRemedy(std::move(prepared).error()).While(Doing(put));
    prepared->want = put.want;
    prepared->number = ++number_;
    prepared_.emplace(put.key, *std::move(prepared));
    return {};
  }

  Result<> Commit(const FilePut& put) {
    if (!prepared_.contains(put.key)) TRY(PrepareAndSync(put));
    // A later one for the same path has taken its place, and will be committed in its turn.
    if (!json::Equal(prepared_.at(put.key).want, put.want)) return {};
    auto done = CarryOut(put);
    if (!done && HasChangedSince(done.error())) {
      TRY(PrepareAndSync(put));
      done = CarryOut(put);
    }
    if (!done) return WithRemedy(std::move(done).error()).While(Doing(put));
    Forget(put.key);
    return {};
  }

  Result<> Sync() {
    for (auto& [device, unsynced] : unsynced_) {
      if (auto synced = unsynced.Sync(); !synced) {
        return WithRemedy(std::move(synced).error())
            .While(fmt::format("syncing the file system {}:{}", gnu_dev_major(device), gnu_dev_minor(device)));
      }
    }
    return {};
  }

  void Abandon() {
    // The last first, so that a directory is empty when its turn comes.
    while (!prepared_.empty()) {
      Discard(std::max_element(prepared_.begin(), prepared_.end(),
                               [](const auto& a, const auto& b) { return a.second.number < b.second.number; }));
    }
  }

 private:
  using Found = std::unordered_map<std::string, Prepared>::iterator;

  Result<> PrepareAndSync(const FilePut& put) {
    TRY(Prepare(put));
    return Sync();
  }

  // Where a path is now: a directory that is not committed yet is beside its place, and all below it too.
  std::string ActualPath(const std::string& path) const {
    if (hidden_.empty() || path == "/") return path;
    const std::string above = ActualPath(DirectoryAbove(path));
    const std::string name(NameOf(path));
    return (above == "/" ? above : above + "/") + (hidden_.contains(path) ? NameBeside(name) : name);
  }

  // Keeps the last one open, as many changes are in the same.
  Result<Directory*> OpenAbove(const std::string& path) {
    std::string actual_path = ActualPath(DirectoryAbove(path));
    if (directory_ && directory_->path == actual_path) return &*directory_;
    directory_.reset();
    Directory directory;
    directory.fd = TRY(root_.OpenFile(actual_path, O_RDONLY | O_DIRECTORY));
    const struct statx status = TRY(Look(directory.fd.get(), "", AT_EMPTY_PATH));
    directory.path = std::move(actual_path);
    directory.device = gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor);
    directory.inode = status.stx_ino;
    directory.attributes = status.stx_attributes;
    if (!unsynced_.contains(directory.device)) {
      UniqueFd any(::fcntl(directory.fd.get(), F_DUPFD_CLOEXEC, 0));
      if (!any) return Error::FromErrno("dup");
      unsynced_.emplace(directory.device, Unsynced(std::move(any)));
    }
    return &directory_.emplace(std::move(directory));
  }

  Result<> Touch(const Directory& directory) {
    return unsynced_.at(directory.device).AddDirectory(directory.fd.get(), directory.inode);
  }

  Result<Prepared> Make(const FilePut& put, const State* was) {
    auto opened = OpenAbove(put.key);
    if (!opened) {
      const int reason = opened.error().errno_value();
      if (!put.want && (reason == ENOENT || reason == ENOTDIR)) return Prepared();
      return std::move(opened).error();
    }
    Directory& directory = **opened;
    const std::string name(NameOf(put.key));
    const auto existing = TRY(FindExisting(directory.fd.get(), name));
    if (!put.want) return MakeReadyToRemove(directory, name, existing);
    return MakeBeside(put, was, directory, name, existing);
  }

  Result<Prepared> MakeReadyToRemove(Directory& directory, const std::string& name,
                                     const std::optional<Existing>& existing) {
    TRY(ClearLeftover(directory.fd.get(), name, NameBeside(name)));
    if (!existing) return Prepared();
    TRY(directory.Check());
    TRY(CheckNotImmutable(existing->attributes, "it"));
    TRY(CheckNotMounted(*existing));
    Prepared prepared;
    prepared.way = Way::kRemove;
    prepared.old_kind = existing->kind;
    return prepared;
  }

  Result<Prepared> MakeBeside(const FilePut& put, const State* was, Directory& directory, const std::string& name,
                              const std::optional<Existing>& existing) {
    const std::string beside = NameBeside(name);
    const bool is_same_kind = existing && existing->kind == put.want->kind;
    AttributeGoal goal = TRY(GoalWithoutExisting(put));
    if (is_same_kind && was != nullptr && IsStill(*was, *existing) && !Matches(*put.want, *was)) {
      TakeOver(TRY(FromText(*was->attributes)), goal);
    } else if (is_same_kind) {
      const UniqueFd entry = TRY(OpenEntry(directory.fd.get(), name, existing->kind));
      Attributes have = TRY(ReadAttributes(entry.get(), HowOpened(existing->kind)));
      if (TRY(IsThere(put, *existing, entry.get(), goal, have))) {
        TRY(ClearLeftover(directory.fd.get(), name, beside));
        return Prepared();
      }
      if (existing->kind != EntryKind::kDirectory) TakeOver(std::move(have), goal);
    }
    TRY(directory.Check());
    if (existing) TRY(CheckNotImmutable(existing->attributes, "what is there"));
    Prepared prepared;
    prepared.way = Way::kRename;
    if (existing) prepared.old_kind = existing->kind;
    if (is_same_kind && existing->kind == EntryKind::kDirectory) {
      TRY(ClearLeftover(directory.fd.get(), name, beside));
      prepared.way = Way::kAdjust;
      prepared.goal = std::move(goal);
      return prepared;
    }
    if (existing) TRY(CheckReplaceable(*existing, put.key));
    const bool is_directory = put.want->kind == EntryKind::kDirectory;
    if (existing && (is_directory || existing->kind == EntryKind::kDirectory)) prepared.way = Way::kExchange;
    if (auto made = MakeEntry(put, directory, name, beside, goal); !made) {
      // The first error is the one to tell.
      static_cast<void>(ClearBeside(directory.fd.get(), name));
      return std::move(made).error();
    }
    if (is_directory) hidden_.insert(put.key);
    prepared.beside = beside;
    return prepared;
  }

  // What is wanted where nothing is, or something of another kind.
  Result<AttributeGoal> GoalWithoutExisting(const FilePut& put) const {
    if (put.want->attributes) return AttributeGoal{TRY(FromText(*put.want->attributes)), OtherAttributes::kRemove};
    AttributeGoal goal;
    if (const auto label = labels_.LabelFor(put.key, put.want->kind)) {
      goal.attributes[kSelinuxLabel] = *label + '\0';  // As the kernel has it.
    }
    return goal;
  }

  // Nothing was said of attributes: then the new thing has those of the old, but for those of the system's security,
  // which follow from the policy and from the contents.
  static void TakeOver(Attributes have, AttributeGoal& goal) {
    if (goal.others == OtherAttributes::kRemove) return;
    std::erase_if(have, [](const auto& attribute) { return attribute.first.starts_with("security."); });
    goal.attributes.merge(std::move(have));
    goal.others = OtherAttributes::kRemove;
  }

  // As far as can be seen without opening it.
  bool IsStill(const State& was, const Existing& existing) const {
    return was.kind == EntryKind::kFile && existing.kind == was.kind && was.attributes &&
           existing.permissions == was.permissions && existing.user == was.user.id && existing.group == was.group.id &&
           blobs_.SizeOf(was.sha256) == existing.size;
  }

  Result<bool> IsThere(const FilePut& put, const Existing& existing, int entry, const AttributeGoal& goal,
                       const Attributes& have) const {
    const State& want = *put.want;
    if (existing.user != want.user.id || existing.group != want.group.id) return false;
    if (want.kind != EntryKind::kLink && existing.permissions != want.permissions) return false;
    if (want.attributes && !AreAsWanted(goal.attributes, have)) return false;
    for (const auto& [name, value] : goal.attributes) {
      if (const auto found = have.find(name); found == have.end() || found->second != value) return false;
    }
    if (want.kind == EntryKind::kLink) return TRY(TargetOf(entry)) == want.target;
    if (want.kind == EntryKind::kDirectory) return true;
    return blobs_.SizeOf(want.sha256) == existing.size && TRY(blobs_.Equals(want.sha256, entry));
  }

  Result<> CheckReplaceable(const Existing& existing, const std::string& path) const {
    TRY(CheckNotMounted(existing));
    if (existing.kind != EntryKind::kDirectory || TRY(root_.List(path)).empty()) return {};
    return Error(ErrorKind::kInvalid, "a directory with something in it is there: move it away");
  }

  Result<> MakeEntry(const FilePut& put, Directory& directory, const std::string& name, const std::string& beside,
                     const AttributeGoal& goal) {
    switch (put.want->kind) {
      case EntryKind::kFile:
        return MakeFile(*put.want, directory, name, beside, goal);
      case EntryKind::kDirectory:
        return MakeDirectory(*put.want, directory, name, beside, goal);
      case EntryKind::kLink:
        return MakeLink(*put.want, directory, name, beside, goal);
    }
    return {};
  }

  Result<> MakeFile(const State& want, Directory& directory, const std::string& name, const std::string& beside,
                    const AttributeGoal& goal) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int at = directory.fd.get();
    const mode_t mode = FirstPermissions(want, maker_);
    UniqueFd file(TRY(
        MakeNew("creating a file beside it", at, name, [&] { return ::openat(at, beside.c_str(), kFlags, mode); })));
    TRY(blobs_.CopyTo(want.sha256, file.get()));
    TRY(SetAll(file.get(), want, goal));
    unsynced_.at(directory.device).Add(std::move(file));
    return {};
  }

  Result<> MakeDirectory(const State& want, Directory& directory, const std::string& name, const std::string& beside,
                         const AttributeGoal& goal) {
    const int at = directory.fd.get();
    TRY(MakeNew("mkdir", at, name, [&] { return ::mkdirat(at, beside.c_str(), 0700); }));
    UniqueFd made = TRY(OpenEntry(at, beside, EntryKind::kDirectory));
    TRY(SetAll(made.get(), want, goal));
    unsynced_.at(directory.device).Add(std::move(made));
    return {};
  }

  // A link cannot be synced by itself; its directory is, once it is in its place.
  Result<> MakeLink(const State& want, Directory& directory, const std::string& name, const std::string& beside,
                    const AttributeGoal& goal) {
    const int at = directory.fd.get();
    TRY(MakeNew("symlink", at, name, [&] { return ::symlinkat(want.target.c_str(), at, beside.c_str()); }));
    const UniqueFd link = TRY(OpenEntry(at, beside, EntryKind::kLink));
    if (::fchownat(link.get(), "", static_cast<uid_t>(want.user.id), static_cast<gid_t>(want.group.id),
                   AT_EMPTY_PATH) != 0) {
      return Error::FromErrno("chown");
    }
    TRY(SetAttributes(link.get(), OpenedAs::kPath, goal.attributes, goal.others));
    return {};
  }

  Result<> CarryOut(const FilePut& put) {
    const Prepared& prepared = prepared_.at(put.key);
    if (prepared.way == Way::kNothing) return {};
    Directory& directory = *TRY(OpenAbove(put.key));
    const std::string name(NameOf(put.key));
    switch (prepared.way) {
      case Way::kNothing:
        return {};
      case Way::kRename:
        TRY(Move(directory, prepared.beside, name));
        break;
      case Way::kExchange:
        TRY(Exchange(directory, prepared.beside, name, prepared.old_kind));
        break;
      case Way::kAdjust:
        return Adjust(directory, name, *put.want, prepared.goal);
      case Way::kRemove:
        TRY(Remove(directory, name, prepared.old_kind));
        break;
    }
    return Touch(directory);
  }

  static Result<> Move(const Directory& directory, const std::string& beside, const std::string& name) {
    const int at = directory.fd.get();
    if (::renameat(at, beside.c_str(), at, name.c_str()) != 0) return Error::FromErrno("rename");
    return {};
  }

  static Result<> Exchange(const Directory& directory, const std::string& beside, const std::string& name,
                           EntryKind old_kind) {
    const int at = directory.fd.get();
    const auto exchange = [&] { return ::renameat2(at, beside.c_str(), at, name.c_str(), RENAME_EXCHANGE); };
    if (exchange() != 0) {
      if (errno != EINVAL && errno != ENOSYS) return Error::FromErrno("exchange");
      // A file system that cannot do this, such as vfat, has an instant without either.
      if (RemoveName(at, name, old_kind) != 0) return Error::FromErrno("removing what was there");
      return Move(directory, beside, name);
    }
    if (RemoveName(at, beside, old_kind) == 0) return {};
    // Someone has put something into the directory meanwhile, which must not be lost.
    Error error = Error::FromErrno("removing what was there");
    if (exchange() != 0) return Error::FromErrno("exchange back").While(error.message());
    return error;
  }

  Result<> Adjust(Directory& directory, const std::string& name, const State& want, const AttributeGoal& goal) {
    UniqueFd entry = TRY(OpenEntry(directory.fd.get(), name, EntryKind::kDirectory));
    TRY(SetAll(entry.get(), want, goal));
    unsynced_.at(directory.device).Add(std::move(entry));
    return {};
  }

  static Result<> Remove(const Directory& directory, const std::string& name, EntryKind old_kind) {
    if (RemoveName(directory.fd.get(), name, old_kind) == 0 || errno == ENOENT) return {};
    if (old_kind == EntryKind::kDirectory && (errno == ENOTEMPTY || errno == EEXIST)) return {};
    return Error::FromErrno("unlink");
  }

  // A directory that has come or gone makes the path of the open one mean another.
  void Forget(const std::string& committed) {
    const auto found = prepared_.find(committed);
    const auto& want = found->second.want;
    if ((want && want->kind == EntryKind::kDirectory) || found->second.old_kind == EntryKind::kDirectory) {
      directory_.reset();
    }
    hidden_.erase(committed);
    prepared_.erase(found);
  }

  // Takes away what was made beside a place.  What cannot be removed is cleared when the path is put again.
  void Discard(Found found) {
    const Way way = found->second.way;
    if (way == Way::kRename || way == Way::kExchange) {
      hidden_.erase(found->first);
      if (const auto directory = OpenAbove(found->first)) {
        static_cast<void>(ClearBeside((*directory)->fd.get(), NameOf(found->first)));
      }
    }
    prepared_.erase(found);
  }

  const Root& root_;
  const BlobStore& blobs_;
  Labels labels_;
  const Owner maker_ = {::geteuid(), ::getegid()};
  std::unordered_map<std::string, Prepared> prepared_;
  std::unordered_set<std::string> hidden_;  // Directories that are prepared, but not committed.
  std::uint64_t number_ = 0;
  std::optional<Directory> directory_;
  std::map<std::uint64_t, Unsynced> unsynced_;
};

FileChanges::FileChanges(const Root& root, const BlobStore& blobs, Labels labels)
    : work_(std::make_unique<Work>(root, blobs, std::move(labels))) {}

FileChanges::~FileChanges() { Abandon(); }

Result<> FileChanges::Prepare(const FilePut& put, const State* was) { return work_->Prepare(put, was); }
Result<> FileChanges::Commit(const FilePut& put) { return work_->Commit(put); }
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
