// SPDX-License-Identifier: Apache-2.0
#include "host/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <functional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/digest.h"
#include "host/attributes.h"
#include "host/entry_kind.h"
#include "host/pieces.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using State = resource::FileEntry::State;

// Reads an open file of about this size and says the digest of what it read.
using TakeContents = std::function<Result<std::string>(int fd, std::size_t size)>;

Result<std::string> DigestOfFile(int fd, std::size_t size) {
  Pieces pieces(fd, size);
  Hasher hasher(DigestAlgorithm::kSha256);
  for (;;) {
    const std::string_view piece = TRY(pieces.Next());
    if (piece.empty()) return std::move(hasher).Finish().hex();
    hasher.Update(piece);
  }
}

void Take(const struct stat& status, State& state) {
  state.permissions = status.st_mode & 07777;
  state.user.id = status.st_uid;
  state.group.id = status.st_gid;
}

// Only now that it is known to be a file or a directory: opening a device can do things, and a pipe can wait.
Result<UniqueFd> OpenToRead(const Root& root, const std::string& path, const struct stat& looked_at) {
  UniqueFd thing = TRY(root.OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (::fstat(thing.get(), &status) != 0) return Error::FromErrno("fstat");
  if (status.st_ino == looked_at.st_ino && status.st_dev == looked_at.st_dev) return thing;
  return Error(ErrorKind::kConflict, "something else was put there meanwhile");
}

Result<State> ObserveLink(int fd) {
  State state;
  state.kind = EntryKind::kLink;
  std::array<char, PATH_MAX> target;
  const ssize_t length = ::readlinkat(fd, "", target.data(), target.size());
  if (length < 0) return Error::FromErrno("readlink");
  state.target.assign(target.data(), static_cast<std::size_t>(length));
  state.attributes = ToText(TRY(ReadAttributes(fd, OpenedAs::kPath)));
  return state;
}

Result<State> ObserveOpen(int fd, EntryKind kind, std::size_t size, const TakeContents& take) {
  State state;
  state.kind = kind;
  if (kind == EntryKind::kFile) state.sha256 = TRY(take(fd, size));
  state.attributes = ToText(TRY(ReadAttributes(fd, OpenedAs::kItself)));
  return state;
}

Result<std::optional<State>> ObserveWith(const Root& root, const std::string& path, const TakeContents& take) {
  const auto doing = [&] { return fmt::format("looking at {}", path); };
  auto thing = root.OpenFile(path, O_PATH | O_NOFOLLOW);
  if (!thing) {
    const int reason = thing.error().errno_value();
    if (reason == ENOENT || reason == ENOTDIR) return std::nullopt;
    return std::move(thing).error();
  }
  struct stat status;
  if (::fstat(thing->get(), &status) != 0) return Error::FromErrno("fstat").While(doing());
  const EntryKind kind = TRY(KindOf(status.st_mode), doing());
  State state;
  if (kind == EntryKind::kLink) {
    state = TRY(ObserveLink(thing->get()), doing());
  } else {
    const UniqueFd open = TRY(OpenToRead(root, path, status), doing());
    state = TRY(ObserveOpen(open.get(), kind, static_cast<std::size_t>(status.st_size), take), doing());
  }
  Take(status, state);
  return state;
}

// Finds out which directories there are, each once.
class Ancestors {
 public:
  Ancestors(const Root& root, std::span<const FilePut> puts) : root_(root) {
    for (const FilePut& put : puts) {
      if (put.want && put.want->kind == EntryKind::kDirectory) made_.insert(put.key);
    }
  }

  // Adds those that are missing above a path.
  Result<> Ask(const std::string& path) {
    const std::string directory = DirectoryAbove(path);
    if (directory == path || there_.contains(directory)) return {};
    if (TRY(IsThere(directory))) {
      there_.insert(directory);
      return {};
    }
    TRY(Ask(directory));
    there_.insert(directory);
    if (made_.contains(directory)) return {};
    State state;
    state.kind = EntryKind::kDirectory;
    state.permissions = 0755;
    missing_.push_back({directory, std::move(state)});
    return {};
  }

  std::vector<FilePut> Take() && { return std::move(missing_); }

 private:
  Result<bool> IsThere(const std::string& directory) const {
    const auto found = root_.OpenFile(directory, O_PATH | O_DIRECTORY);
    if (found) return true;
    const int reason = found.error().errno_value();
    if (reason != ENOENT && reason != ENOTDIR) return found.error();
    if (!TRY(root_.Status(directory))) return false;
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} has to be a directory and is something else: move it away", directory));
  }

  const Root& root_;
  std::unordered_set<std::string> made_;
  std::unordered_set<std::string> there_;
  std::vector<FilePut> missing_;
};

}  // namespace

Result<std::optional<State>> Observe(const Root& root, const std::string& path) {
  return ObserveWith(root, path, DigestOfFile);
}

Result<std::optional<State>> ObserveAndKeep(const Root& root, BlobStore& blobs, const std::string& path) {
  return ObserveWith(root, path, [&](int fd, std::size_t size) { return blobs.AddFile(fd, size); });
}

bool Matches(const State& want, const State& have) {
  if (want.kind != have.kind || want.user.id != have.user.id || want.group.id != have.group.id) return false;
  if (want.kind == EntryKind::kFile && want.sha256 != have.sha256) return false;
  if (want.kind == EntryKind::kLink && want.target != have.target) return false;
  if (want.kind != EntryKind::kLink && want.permissions != have.permissions) return false;
  return !want.attributes ||
         AreAsWanted(*want.attributes, have.attributes.value_or(std::map<std::string, std::string>()));
}

Result<std::vector<FilePut>> MissingDirectories(const Root& root, std::span<const FilePut> puts) {
  Ancestors ancestors(root, puts);
  for (const FilePut& put : puts) {
    if (put.want) TRY(ancestors.Ask(put.key), fmt::format("looking for the directory of {}", put.key));
  }
  return std::move(ancestors).Take();
}

std::string DirectoryAbove(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

}  // namespace pintle::host
