// SPDX-License-Identifier: Apache-2.0
#include "host/files/observer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <limits>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "base/size_limits.h"
#include "host/files/attributes.h"
#include "host/files/entry_kind.h"
#include "host/files/files.h"
#include "host/files/pieces.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;

bool IsNothingThere(int errno_value) { return errno_value == ENOENT || errno_value == ENOTDIR; }

// Returns how many bytes of a file are read.  A file that a user may write to can have any length without using any
// space, and reading it could take days.  Such a file is not read beyond the limit for files of a config.
std::size_t ReadLimitOf(const Directory& directory, const struct stat& status) {
  const bool is_ours = !directory.IsShared() && IsOurs(status.st_uid) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return is_ours ? std::numeric_limits<std::size_t>::max() : limits::kFileContents;
}

Error TooLongToRead() {
  return Error(ErrorKind::kInvalid,
               fmt::format("the file is longer than the {} bytes that a file of a config may have: "
                           "move it away",
                           limits::kFileContents));
}

void CopyStatus(const struct stat& status, FileState& state) {
  state.permissions = status.st_mode & 07777;
  state.user.id = status.st_uid;
  state.group.id = status.st_gid;
}

Result<FileState> ObserveLink(int fd) {
  FileState state;
  state.kind = EntryKind::kLink;
  state.target = TRY(TargetOf(fd));
  state.attributes = ToText(TRY(ReadAttributes(fd, OpenedAs::kPath)));
  return state;
}

}  // namespace

class Observer::FileReader {
 public:
  virtual ~FileReader() = default;

  // Returns the state of a file if it is known without reading the file.
  virtual Result<std::optional<FileState>> Recall(const std::string&, const struct stat&) { return std::nullopt; }
  // ObserveWith() calls this after a file was read, while the file is still open.
  virtual Result<> OnFileRead(const std::string&, int, const struct stat&, FileState&) { return {}; }

  // Reads the file and returns the digest of its contents.  A file that is longer than `limit` is an error.
  Result<std::string> DigestOf(int fd, std::size_t size, std::size_t limit) {
    limit_ = limit;
    if (size > limit) return TooLongToRead();
    pieces_.emplace(fd, size);
    const std::string_view first = TRY(pieces_->Next());
    Hasher hasher(DigestAlgorithm::kSha256);
    hasher.Update(first);
    std::string_view next = TRY(pieces_->Next());
    contents_ = next.empty() ? std::optional(first) : std::nullopt;
    std::size_t read = first.size();
    for (; !next.empty(); next = TRY(pieces_->Next())) {
      hasher.Update(next);
      read += next.size();
      if (read > limit) return TooLongToRead();  // It grows while it is read.
    }
    return std::move(hasher).Finish().hex();
  }

 protected:
  // The contents of the file that DigestOf() has read, if they fit into one piece.
  std::optional<std::string_view> contents_;
  std::size_t limit_ = 0;  // The limit that DigestOf() has got.

 private:
  std::optional<Pieces> pieces_;
};

namespace {

class RememberingReader final : public Observer::FileReader {
 public:
  explicit RememberingReader(SeenFiles& seen) : seen_(seen) {}

  Result<std::optional<FileState>> Recall(const std::string& path, const struct stat& status) override {
    return seen_.Recall(path, status);
  }
  Result<> OnFileRead(const std::string& path, int, const struct stat& status, FileState& state) override {
    seen_.Remember(path, status, state);
    return {};
  }

 private:
  SeenFiles& seen_;
};

class KeepingReader : public Observer::FileReader {
 public:
  KeepingReader(BlobStore& blobs, const std::optional<FileState>& expected) : blobs_(blobs), expected_(expected) {}

  Result<> OnFileRead(const std::string&, int fd, const struct stat& status, FileState& state) override {
    if (expected_ && Matches(*expected_, state)) return {};
    if (contents_) return blobs_.AddWithDigest(state.sha256, *contents_);
    // AddFile() reads the file again.  If the file has changed meanwhile, the state gets the new contents.
    state.sha256 = TRY(blobs_.AddFile(fd, static_cast<std::size_t>(status.st_size), limit_));
    return {};
  }

 protected:
  BlobStore& blobs_;
  const std::optional<FileState>& expected_;
};

class KeepingExpectedReader final : public KeepingReader {
 public:
  KeepingExpectedReader(BlobStore& blobs, const std::optional<FileState>& expected, SeenFiles& seen,
                        const Observer::KeepExpected& keep_expected)
      : KeepingReader(blobs, expected), seen_(seen), keep_expected_(keep_expected) {}

  Result<std::optional<FileState>> Recall(const std::string& path, const struct stat& status) override {
    auto state = seen_.Recall(path, status);
    if (!state || (expected_ && Matches(*expected_, *state)) || blobs_.Has(state->sha256)) return state;
    TRY(keep_expected_(path));
    if (!blobs_.Has(state->sha256)) state.reset();
    return state;
  }

  Result<> OnFileRead(const std::string& path, int fd, const struct stat& status, FileState& state) override {
    TRY(KeepingReader::OnFileRead(path, fd, status, state));
    seen_.Remember(path, status, state);
    return {};
  }

 private:
  SeenFiles& seen_;
  const Observer::KeepExpected& keep_expected_;
};

// Opens the entry that has this status, and updates the status.  The caller has checked that it is not a device or a
// pipe, since opening these can have side effects or block.
Result<UniqueFd> OpenSame(const Directory& directory, const std::string& name, struct stat& status) {
  const int flags = S_ISLNK(status.st_mode) ? O_PATH : O_RDONLY | O_NONBLOCK | O_NOCTTY;
  UniqueFd thing(::openat(directory.fd(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  if (!thing) return Error::FromErrno("open");
  struct stat opened;
  if (::fstat(thing.get(), &opened) != 0) return Error::FromErrno("fstat");
  if (opened.st_ino == status.st_ino && opened.st_dev == status.st_dev) {
    TRY(CheckReadable(directory, opened));
    status = opened;
    return thing;
  }
  return Error(ErrorKind::kConflict, "something else was put there meanwhile");
}

}  // namespace

Result<std::optional<FileState>> Observer::Observe(const std::string& path) {
  FileReader reader;
  return ObserveWith(path, reader);
}

Result<std::optional<FileState>> Observer::Observe(const std::string& path, SeenFiles& seen) {
  RememberingReader reader(seen);
  return ObserveWith(path, reader);
}

Result<std::optional<FileState>> Observer::ObserveAndKeep(const std::string& path, BlobStore& blobs,
                                                          const std::optional<FileState>& expected) {
  KeepingReader reader(blobs, expected);
  return ObserveWith(path, reader);
}

Result<std::optional<FileState>> Observer::ObserveAndKeep(const std::string& path, BlobStore& blobs,
                                                          const std::optional<FileState>& expected, SeenFiles& seen,
                                                          const KeepExpected& keep_expected) {
  KeepingExpectedReader reader(blobs, expected, seen, keep_expected);
  return ObserveWith(path, reader);
}

Result<std::optional<FileState>> Observer::ObserveWith(const std::string& path, FileReader& reader) {
  const auto doing = [&] { return fmt::format("looking at {}", path); };
  const auto place = TRY(Find(path));
  if (!place) return std::nullopt;
  struct stat status;
  if (::fstatat(place->directory->fd(), place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    if (IsNothingThere(errno)) return std::nullopt;
    return Error::FromErrno("fstatat").While(doing());
  }
  const EntryKind kind = TRY(KindOf(status.st_mode), doing());
  if (kind == EntryKind::kFile) {
    if (auto known = TRY(reader.Recall(path, status), doing())) return known;
  }
  const UniqueFd thing = TRY(OpenSame(*place->directory, place->name, status), doing());
  FileState state;
  if (kind == EntryKind::kLink) {
    state = TRY(ObserveLink(thing.get()), doing());
    CopyStatus(status, state);
    return state;
  }
  state.kind = kind;
  if (kind == EntryKind::kFile) {
    const std::size_t limit = ReadLimitOf(*place->directory, status);
    state.sha256 = TRY(reader.DigestOf(thing.get(), static_cast<std::size_t>(status.st_size), limit), doing());
  }
  state.attributes = ToText(TRY(ReadAttributes(thing.get(), OpenedAs::kItself), doing()));
  CopyStatus(status, state);
  if (kind == EntryKind::kFile) TRY(reader.OnFileRead(path, thing.get(), status, state), doing());
  return state;
}

// If a path does not end in a name, it is the path of a directory.
Result<std::optional<Observer::Place>> Observer::Find(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  const bool is_named = !name.empty() && name != "." && name != "..";
  auto directory = directories_.Open(is_named ? DirectoryAbove(path) : path);
  if (!directory) {
    if (IsNothingThere(directory.error().errno_value())) return std::nullopt;
    return std::move(directory).error().While(fmt::format("looking at {}", path));
  }
  return Place{*std::move(directory), is_named ? std::move(name) : "."};
}

}  // namespace pintle::host
