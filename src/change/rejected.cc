// SPDX-License-Identifier: Apache-2.0
#include "change/rejected.h"

#include "change/kept_file.h"

namespace pintle::change {

Result<std::optional<Rejected>> ReadRejected(const Root& root) { return ReadKept<Rejected>(root, format::kRejected); }

Result<> KeepRejected(const Root& root, const std::optional<Rejected>& rejected) {
  return Keep(root, format::kRejected, rejected);
}

}  // namespace pintle::change
