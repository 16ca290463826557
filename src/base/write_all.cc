// SPDX-License-Identifier: Apache-2.0
#include "base/write_all.h"

#include <unistd.h>

namespace pintle {

Result<> WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error::FromErrno("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace pintle
