// SPDX-License-Identifier: Apache-2.0
#include "host/files/paired_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/unique_fd.h"
#include "base/write_all.h"
#include "host/files/files.h"
#include "host/files/sync_directory.h"

namespace pintle::host {
namespace {

constexpr mode_t kPrivate = 0600;

Result<> Sync(int fd, const char* call) {
  if (::fsync(fd) != 0) return Error::FromErrno(call);
  return {};
}

// Returns the contents, padded with spaces up to this size.
std::string FilledUp(std::string_view contents, std::size_t size) {
  const std::size_t filled_size = std::max(size, contents.size());
  std::string filled;
  filled.reserve(filled_size);
  filled = contents;
  filled.resize(filled_size, ' ');
  return filled;
}

Result<UniqueFd> CreateSpare(int directory, const std::string& name) {
  UniqueFd made(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivate));
  if (!made) return Error::FromErrno("creating the spare");
  return made;
}

// Allocates the space that a new file may need.  The file's offset stays 0.
Result<> Allocate(int fd, std::size_t size) {
  int result = 0;
  do {
    result = ::fallocate(fd, 0, 0, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return {};
  // On a file system without fallocate(), writing allocates the space.
  if (errno != EOPNOTSUPP && errno != ENOSYS) return Error::FromErrno("fallocate");
  TRY(WriteAll(fd, std::string(size, ' ')));
  if (::lseek(fd, 0, SEEK_SET) != 0) return Error::FromErrno("lseek");
  return {};
}

Result<> RemoveName(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) return Error::FromErrno("unlink");
  return {};
}

// Returns no descriptor if there is no file of this name; anything but a regular file is an error.
Result<UniqueFd> OpenSpare(int directory, const std::string& name) {
  UniqueFd spare(::openat(directory, name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!spare && errno == ENOENT) return spare;
  if (!spare) return Error::FromErrno("opening the spare");
  struct stat status;
  if (::fstat(spare.get(), &status) != 0) return Error::FromErrno("fstat");
  if (!S_ISREG(status.st_mode)) return Error(ErrorKind::kInvalid, "the spare is not a regular file");
  return spare;
}

}  // namespace

PairedFile::PairedFile(const Root& root, std::string path)
    : root_(root), path_(std::move(path)), above_(DirectoryAbove(path_)) {
  name_ = path_.substr(path_.rfind('/') + 1);
  spare_ = name_ + ".spare";
}

Result<> PairedFile::Write(std::string_view contents) const {
  const UniqueFd directory = TRY(root_.OpenFile(above_, O_RDONLY | O_DIRECTORY));
  if (!TRY(root_.Status(path_))) return CreateBoth(directory.get(), contents);
  const auto write = [&]() -> Result<> {
    UniqueFd spare = TRY(OpenSpare(directory.get(), spare_));
    // Someone has removed the spare, an older version of Pintle has written the file, or the file system cannot
    // exchange two names (Replace()).
    if (!spare) spare = TRY(AllocateSpare(directory.get(), contents.size() + kRoomToGrow));
    return Replace(directory.get(), spare.get(), contents);
  };
  TRY(write(), "writing " + path_);
  return {};
}

// The spare is made first, so that whenever the file exists, it can be replaced.
Result<> PairedFile::CreateBoth(int directory, std::string_view contents) const {
  const std::string filled = FilledUp(contents, contents.size() + kRoomToGrow);
  const auto begin = [&]() -> Result<> {
    TRY(AllocateSpare(directory, filled.size()));
    return root_.WriteFile(path_, filled, {.permissions = kPrivate, .owner = {}});
  };
  auto begun = begin();
  // After a failure, the file may exist under a name that is not durable, so it is removed.
  if (!begun) static_cast<void>(Remove());  // The first error is the one to report.
  return begun;
}

Result<UniqueFd> PairedFile::AllocateSpare(int directory, std::size_t size) const {
  const auto allocate = [&]() -> Result<UniqueFd> {
    TRY(RemoveName(directory, spare_));
    UniqueFd spare = TRY(CreateSpare(directory, spare_));
    TRY(Allocate(spare.get(), size));
    TRY(Sync(spare.get(), "fsync"));
    return spare;
  };
  return TRY(allocate(), "allocating a second " + path_);
}

Result<> PairedFile::Replace(int directory, int spare, std::string_view contents) const {
  struct stat status;
  if (::fstat(spare, &status) != 0) return Error::FromErrno("fstat");
  TRY(WriteAll(spare, FilledUp(contents, static_cast<std::size_t>(status.st_size))));
  TRY(Sync(spare, "fsync"));
  const auto exchange = [&](unsigned flags) {
    return ::renameat2(directory, spare_.c_str(), directory, name_.c_str(), flags);
  };
  int exchanged = exchange(RENAME_EXCHANGE);
  const bool is_supported = exchanged == 0 || (errno != EINVAL && errno != ENOSYS);
  // On a file system that cannot exchange two names, the spare is renamed to the file, and there is no spare any more.
  if (!is_supported) exchanged = exchange(0);
  if (exchanged != 0) return Error::FromErrno("rename");
  auto synced = SyncDirectory(directory);
  // After an error, the old file gets its name back, so that the contents are unchanged.
  if (!synced && is_supported) exchange(RENAME_EXCHANGE);
  return synced;
}

std::string PairedFile::spare() const { return (above_ == "/" ? "" : above_) + "/" + spare_; }

Result<> PairedFile::Remove() const {
  TRY(root_.Remove(path_));
  static_cast<void>(root_.Remove(spare()));  // A spare that stays is removed before the next one is made.
  return {};
}

}  // namespace pintle::host
