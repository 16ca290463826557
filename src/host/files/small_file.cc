// SPDX-License-Identifier: Apache-2.0
#include "host/files/small_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/size_limits.h"
#include "base/unique_fd.h"
#include "base/write_all.h"
#include "host/files/pieces.h"
#include "host/files/sync_directory.h"

namespace pintle::host {
namespace {

constexpr std::size_t kSmallFileLimit = limits::kKeys;

Error TooLong() {
  return Error(ErrorKind::kInvalid, fmt::format("it is longer than the limit of {} bytes", kSmallFileLimit));
}

// The owner is set only if it differs, since this may run with the rights of a user, which do not permit chown(2).
Result<> SetOwner(int fd, const Owner& owner) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return Error::FromErrno("fstat");
  if (status.st_uid == owner.uid && status.st_gid == owner.gid) return {};
  if (::fchown(fd, owner.uid, owner.gid) != 0) return Error::FromErrno("chown");
  return {};
}

Result<> WriteBeside(int directory, const std::string& temporary_name, const SmallFile& file) {
  const UniqueFd fd(
      ::openat(directory, temporary_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return Error::FromErrno("creating a temporary file");
  TRY(WriteAll(fd.get(), file.contents));
  TRY(SetOwner(fd.get(), file.owner));
  TRY(SetAttributes(fd.get(), OpenedAs::kItself, file.attributes, OtherAttributes::kKeep));
  if (::fchmod(fd.get(), file.permissions) != 0) return Error::FromErrno("chmod");
  if (::fsync(fd.get()) != 0) return Error::FromErrno("fsync");
  return {};
}

}  // namespace

Result<std::optional<SmallFile>> ReadSmallFile(int directory, const std::string& name) {
  const UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd) return Error::FromErrno("open");
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return Error::FromErrno("fstat");
  if (!S_ISREG(status.st_mode)) return Error(ErrorKind::kConflict, "it is not a regular file");
  SmallFile file = {{}, status.st_mode & 07777, {status.st_uid, status.st_gid}, {}};
  file.attributes = TRY(ReadAttributes(fd.get(), OpenedAs::kItself));
  Pieces pieces(fd.get(), static_cast<std::size_t>(status.st_size));
  for (std::string_view piece = TRY(pieces.Next()); !piece.empty(); piece = TRY(pieces.Next())) {
    file.contents += piece;
    if (file.contents.size() > kSmallFileLimit) return TooLong();
  }
  return file;
}

Result<> ReplaceSmallFile(int directory, const std::string& name, const SmallFile& file) {
  if (file.contents.size() > kSmallFileLimit) return TooLong();
  const std::string temporary_name = TemporaryNameOf(name);
  TRY(ClearTemporaryName(directory, name));
  const Result<> written = WriteBeside(directory, temporary_name, file);
  if (!written || ::renameat(directory, temporary_name.c_str(), directory, name.c_str()) != 0) {
    Error error = written ? Error::FromErrno("rename") : written.error();
    ::unlinkat(directory, temporary_name.c_str(), 0);
    return error;
  }
  return SyncDirectory(directory);
}

Result<> RemoveSmallFile(int directory, const std::string& name) {
  TRY(ClearTemporaryName(directory, name));
  if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) return Error::FromErrno("unlink");
  return SyncDirectory(directory);
}

}  // namespace pintle::host
