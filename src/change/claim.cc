// SPDX-License-Identifier: Apache-2.0
#include "change/claim.h"

#include <fcntl.h>
#include <sys/file.h>

#include <utility>

#include "host/remedy.h"

namespace pintle::change {
namespace {

constexpr const char* kDirectory = "/var/lib/pintle";
constexpr const char* kFile = "/var/lib/pintle/lock";
constexpr mode_t kPrivate = 0600;
constexpr FileMode kPrivateDirectory = {.permissions = 0700, .owner = {}};

}  // namespace

Result<Claim> Claim::Take(const Root& root) {
  TRY(host::WithRemedy(root.MakeDirectories(kDirectory, kPrivateDirectory)));
  UniqueFd hold = TRY(host::WithRemedy(root.OpenFile(kFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, kPrivate)));
  if (::flock(hold.get(), LOCK_EX | LOCK_NB) == 0) return Claim(std::move(hold));
  if (errno != EWOULDBLOCK) return Error::FromErrno("flock").While(kFile);
  return Error(ErrorKind::kConflict, "something else is changing this machine just now; try again when it is done");
}

}  // namespace pintle::change
