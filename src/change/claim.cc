// SPDX-License-Identifier: Apache-2.0
#include "change/claim.h"

#include <fcntl.h>
#include <sys/file.h>

#include <thread>
#include <utility>

#include "change/format.h"
#include "change/state_directory.h"
#include "host/files/remedy.h"

namespace pintle::change {
namespace {

constexpr const char* kFile = "/var/lib/pintle/lock";
// Only a signal can interrupt a blocking flock(), and signals concern the whole program.  So the lock is polled.
constexpr auto kPollInterval = std::chrono::milliseconds(50);
constexpr mode_t kPrivate = 0600;

// Returns whether the lock was taken.
Result<bool> Lock(const UniqueFd& file, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return Error::FromErrno("flock");
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

}  // namespace

Result<Claim> Claim::Take(const Root& root, std::chrono::milliseconds patience, Allows allows) {
  // If a newer Pintle has left files but no lock, the lock is not created.
  if (allows == Allows::kKnownVersions && !TRY(root.Status(kFile))) TRY(ExpectKnownVersions(root));
  TRY(host::WithRemedy(root.MakeDirectories(kStateDirectory, kPrivateDirectory)));
  UniqueFd lock = TRY(host::WithRemedy(root.OpenFile(kFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, kPrivate)));
  if (!TRY(Lock(lock, patience), kFile)) {
    return Error(ErrorKind::kConflict, "another program is changing this machine; try again when it has ended");
  }
  if (allows == Allows::kKnownVersions) TRY(ExpectKnownVersions(root));
  return Claim(std::move(lock));
}

Result<bool> Claim::IsHeld(const Root& root) {
  const auto lock = root.OpenFile(kFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!lock) return lock.error().kind() == ErrorKind::kNotFound ? Result<bool>(false) : lock.error();
  if (::flock(lock->get(), LOCK_SH | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  return Error::FromErrno("flock").While(kFile);
}

}  // namespace pintle::change
