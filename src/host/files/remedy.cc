// SPDX-License-Identifier: Apache-2.0
#include "host/files/remedy.h"

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace pintle::host {
namespace {

std::string_view RemedyForErrno(int errno_value) {
  switch (errno_value) {
    case ENOSPC:
      return "the file system is full; free some space or inodes";
    case EDQUOT:
      return "the disk quota is used up; raise the quota or free some space";
    case EFBIG:
      return "the file would exceed the limit on the size of files; raise the limit (LimitFSIZE= of the unit, ulimit "
             "-f)";
    case EROFS:
      return "the file system is mounted read-only; mount it read-write";
    case EIO:
      return "the disk fails; see the kernel's log";
    case EPERM:
    case EACCES:
      return "the kernel does not allow this; look for immutable bits (lsattr), mount options and security policies";
    case EBUSY:
    case ETXTBSY:
      return "the file is in use; stop the process that uses it, or unmount it";
    case EOPNOTSUPP:
      return "the file system does not support this operation; use another file system";
    case EMFILE:
    case ENFILE:
      return "too many files are open; raise the limit";
    case ENAMETOOLONG:
      return "the path or a name in it is too long; shorten it";
    case ELOOP:
      return "a symlink is in the path, or symlinks form a loop; remove or correct them";
    default:
      return "";
  }
}

}  // namespace

bool IsFaultOfMachine(const Error& error) {
  switch (error.errno_value()) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EROFS:
    case EIO:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EINTR:
      return true;
    default:
      return false;
  }
}

Error WithRemedy(Error error) {
  const std::string_view remedy = RemedyForErrno(error.errno_value());
  const bool has_remedy = error.message().find(remedy) != std::string::npos;
  return remedy.empty() || has_remedy ? std::move(error) : std::move(error).While(remedy);
}

}  // namespace pintle::host
