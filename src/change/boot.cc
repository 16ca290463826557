// SPDX-License-Identifier: Apache-2.0
#include "change/boot.h"

namespace pintle::change {

Result<std::string> BootId(const Root& root) {
  constexpr const char* kPath = "/proc/sys/kernel/random/boot_id";
  if (!TRY(root.Status(kPath))) return std::string();
  return TRY(root.ReadFile(kPath));
}

Result<bool> HasRebooted(const Root& root, const Change& change) { return change.boot_id != TRY(BootId(root)); }

}  // namespace pintle::change
