// SPDX-License-Identifier: Apache-2.0
#include "crash/faults.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <utility>

#include "base/digest.h"

namespace pintle::crash {
namespace {

constexpr int kStatusCutShort = 99;
constexpr int kStatusFailed = 1;
constexpr int kStatusMetFault = 64;  // Added to another status.

// A fault is set only in the process that RunWith() has started.
const Fault* active_fault = nullptr;
int calls = 0;
int uncounted = 0;
bool met = false;
bool is_over = false;
bool can_exchange = true;

enum class Answer { kGoOn, kFail, kOneByte };
enum class Needs { kNothing, kSpace };

bool IsMetNow(Needs needs) {
  const bool lasts = active_fault->lasts || active_fault->kind == FaultKind::kDiskFull;
  if (!lasts) return calls == active_fault->at;
  if (is_over || active_fault->at == 0 || calls < active_fault->at) return false;
  return needs == Needs::kSpace || active_fault->kind != FaultKind::kDiskFull;
}

Answer Count(Needs needs = Needs::kNothing) {
  if (active_fault == nullptr || uncounted > 0) return Answer::kGoOn;
  ++calls;
  if (!IsMetNow(needs)) return Answer::kGoOn;
  met = true;
  switch (active_fault->kind) {
    case FaultKind::kExit:
      ::_exit(kStatusCutShort);
    case FaultKind::kError:
      errno = active_fault->errno_value;
      return Answer::kFail;
    case FaultKind::kShortWrite:
      return Answer::kOneByte;
    case FaultKind::kDiskFull:
      errno = ENOSPC;
      return Answer::kFail;
    case FaultKind::kMeanwhile:
      std::exchange(active_fault, nullptr)->meanwhile();
      return Answer::kGoOn;
  }
  std::abort();
}

// Returns whether a write needs more space: overwriting a part of a file that has space succeeds on a full disk.
Needs NeedsOf(int fd, off_t offset, size_t count) {
  struct stat status;
  if (active_fault == nullptr || active_fault->kind != FaultKind::kDiskFull) return Needs::kNothing;
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return Needs::kNothing;
  constexpr off_t kBlock = 512;
  return offset + static_cast<off_t>(count) > status.st_blocks * kBlock ? Needs::kSpace : Needs::kNothing;
}

// Returns the C library's function of this name.
template <typename Call>
Call Real(const char* name) {
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, name));
}

// The C library's functions that this file replaces.  With 64-bit file offsets, which Meson always requests, some of
// them have the suffix 64 in the library.
struct Library {
  decltype(&::write) write = Real<decltype(&::write)>("write");
  decltype(&::pwritev) pwritev = Real<decltype(&::pwritev)>("pwritev64");
  decltype(&::copy_file_range) copy_file_range = Real<decltype(&::copy_file_range)>("copy_file_range");
  decltype(&::openat) openat = Real<decltype(&::openat)>("openat64");
  decltype(&::ftruncate) ftruncate = Real<decltype(&::ftruncate)>("ftruncate64");
  decltype(&::fallocate) fallocate = Real<decltype(&::fallocate)>("fallocate64");
  decltype(&::fchmod) fchmod = Real<decltype(&::fchmod)>("fchmod");
  decltype(&::fchown) fchown = Real<decltype(&::fchown)>("fchown");
  decltype(&::fchownat) fchownat = Real<decltype(&::fchownat)>("fchownat");
  decltype(&::mkdirat) mkdirat = Real<decltype(&::mkdirat)>("mkdirat");
  decltype(&::symlinkat) symlinkat = Real<decltype(&::symlinkat)>("symlinkat");
  decltype(&::renameat) renameat = Real<decltype(&::renameat)>("renameat");
  decltype(&::renameat2) renameat2 = Real<decltype(&::renameat2)>("renameat2");
  decltype(&::unlinkat) unlinkat = Real<decltype(&::unlinkat)>("unlinkat");
  decltype(&::fsetxattr) fsetxattr = Real<decltype(&::fsetxattr)>("fsetxattr");
  decltype(&::setxattr) setxattr = Real<decltype(&::setxattr)>("setxattr");
  decltype(&::fremovexattr) fremovexattr = Real<decltype(&::fremovexattr)>("fremovexattr");
  decltype(&::removexattr) removexattr = Real<decltype(&::removexattr)>("removexattr");
};

const Library& TheLibrary() {
  static const Library library;
  return library;
}

// Counts a call and, unless it has to fail, makes it.
template <typename Call, typename... Arguments>
int Through(Needs needs, Call call, Arguments... arguments) {
  if (Count(needs) == Answer::kFail) return -1;
  return (TheLibrary().*call)(arguments...);
}

// Syncs are counted and may fail, but are not made: the writes of a process stay when it ends.
int SyncNothing() { return Count() == Answer::kFail ? -1 : 0; }

}  // namespace

History RunWith(const Fault& fault, const std::function<bool()>& operation) {
  // These two look up the functions of the C library and load libcrypto.  Otherwise, each child would do so.
  TheLibrary();
  static const Digest first = Sha256("");
  const pid_t child = ::fork();
  if (child == -1) {
    // waitpid() would wait for any child, and its -1 would count as success.
    ::perror("fork");
    std::abort();
  }
  if (child == 0) {
    active_fault = &fault;
    can_exchange = !fault.cannot_exchange;
    const bool succeeded = operation();
    active_fault = nullptr;
    ::_exit((succeeded ? 0 : kStatusFailed) + (met ? kStatusMetFault : 0));
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) std::abort();
  const int code = WEXITSTATUS(status);
  if (code == kStatusCutShort) return {Ending::kCutShort, true};
  const bool fault_met = code >= kStatusMetFault;
  return {code - (fault_met ? kStatusMetFault : 0) == 0 ? Ending::kSucceeded : Ending::kFailed, fault_met};
}

void EndFault() { is_over = true; }
bool IsFaultOver() { return is_over; }

bool CountCallOfFake() { return Count() != Answer::kFail; }

Uncounted::Uncounted() { ++uncounted; }
Uncounted::~Uncounted() { --uncounted; }

}  // namespace pintle::crash

// The C library's functions that change a file tree.  The library has no openat2(), so the creation of a file by
// Root::OpenFile() is not counted.  Of all that these tests run, only Claim::Take() creates a file in this way.
extern "C" {

using pintle::crash::Answer;
using pintle::crash::can_exchange;
using pintle::crash::Count;
using pintle::crash::Library;
using pintle::crash::Needs;
using pintle::crash::NeedsOf;
using pintle::crash::SyncNothing;
using pintle::crash::TheLibrary;
using pintle::crash::Through;

ssize_t write(int fd, const void* buffer, size_t count) {
  // Messages on standard error are not part of the file tree.
  const bool is_message = fd == STDERR_FILENO;
  const Answer answer = is_message ? Answer::kGoOn : Count(NeedsOf(fd, ::lseek(fd, 0, SEEK_CUR), count));
  if (answer == Answer::kFail) return -1;
  return TheLibrary().write(fd, buffer, answer == Answer::kOneByte && count > 1 ? 1 : count);
}

ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
  size_t size = 0;
  for (int part = 0; part < count; ++part) size += parts[part].iov_len;
  const Answer answer = Count(NeedsOf(fd, offset, size));
  if (answer == Answer::kFail) return -1;
  const iovec first = {parts[0].iov_base, parts[0].iov_len > 1 ? 1 : parts[0].iov_len};
  return answer == Answer::kOneByte ? TheLibrary().pwritev(fd, &first, 1, offset)
                                    : TheLibrary().pwritev(fd, parts, count, offset);
}

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t count, unsigned flags) {
  const off_t offset = to_offset != nullptr ? *to_offset : ::lseek(to, 0, SEEK_CUR);
  const Answer answer = Count(NeedsOf(to, offset, count));
  if (answer == Answer::kFail) return -1;
  return TheLibrary().copy_file_range(from, from_offset, to, to_offset,
                                      answer == Answer::kOneByte && count > 1 ? 1 : count, flags);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if ((flags & O_CREAT) != 0 && Count(Needs::kSpace) == Answer::kFail) return -1;
  return TheLibrary().openat(directory, path, flags, mode);
}

int fsync(int) { return SyncNothing(); }
int fdatasync(int) { return SyncNothing(); }
int syncfs(int) noexcept { return SyncNothing(); }
int ftruncate(int fd, off_t size) noexcept { return Through(Needs::kNothing, &Library::ftruncate, fd, size); }
int fallocate(int fd, int mode, off_t offset, off_t size) {
  return Through(Needs::kSpace, &Library::fallocate, fd, mode, offset, size);
}
int fchmod(int fd, mode_t mode) noexcept { return Through(Needs::kNothing, &Library::fchmod, fd, mode); }
int fchown(int fd, uid_t owner, gid_t group) noexcept {
  return Through(Needs::kNothing, &Library::fchown, fd, owner, group);
}
int fchownat(int directory, const char* path, uid_t owner, gid_t group, int flags) noexcept {
  return Through(Needs::kNothing, &Library::fchownat, directory, path, owner, group, flags);
}
int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  return Through(Needs::kSpace, &Library::mkdirat, directory, path, mode);
}
int symlinkat(const char* target, int directory, const char* path) noexcept {
  return Through(Needs::kSpace, &Library::symlinkat, target, directory, path);
}
int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  return Through(Needs::kNothing, &Library::renameat, from_directory, from, to_directory, to);
}
int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) noexcept {
  if (!can_exchange && (flags & RENAME_EXCHANGE) != 0) {
    errno = EINVAL;
    return -1;
  }
  return Through(Needs::kNothing, &Library::renameat2, from_directory, from, to_directory, to, flags);
}
int unlinkat(int directory, const char* path, int flags) noexcept {
  return Through(Needs::kNothing, &Library::unlinkat, directory, path, flags);
}
int fsetxattr(int fd, const char* name, const void* value, size_t size, int flags) noexcept {
  return Through(Needs::kSpace, &Library::fsetxattr, fd, name, value, size, flags);
}
int setxattr(const char* path, const char* name, const void* value, size_t size, int flags) noexcept {
  return Through(Needs::kSpace, &Library::setxattr, path, name, value, size, flags);
}
int fremovexattr(int fd, const char* name) noexcept {
  return Through(Needs::kNothing, &Library::fremovexattr, fd, name);
}
int removexattr(const char* path, const char* name) noexcept {
  return Through(Needs::kNothing, &Library::removexattr, path, name);
}

}  // extern "C"
