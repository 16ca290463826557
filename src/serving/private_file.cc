// SPDX-License-Identifier: Apache-2.0
#include "serving/private_file.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include "base/printable.h"

namespace pintle::serving {

bool IsReadableByAll(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

Error ReadableByAllError(std::string_view contents, const std::string& path) {
  return Error(ErrorKind::kInvalid,
               fmt::format("{}, {}: everyone on this machine may read it; run `chmod o-rwx {}`, or, for a Secret in a "
                           "pod, set `defaultMode: 0440` on its volume and `fsGroup` on the pod",
                           contents, path, ShellOperand(path)));
}

}  // namespace pintle::serving
