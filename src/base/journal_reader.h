// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is in the system journal: events that programs of ours have logged with a MESSAGE_ID, and the last words of
// services of an earlier boot.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace pintle::log {

struct PastEntry {
  WallTime at;
  std::map<std::string, std::string> fields;
};

// All entries of these kinds, the oldest first, of all boots that the journal goes back to.
Result<std::vector<PastEntry>> ReadJournal(std::span<const MessageId> ids);

// What these services said in the boot before this one, in their order; nothing if the journal does not go back to it.
Result<std::vector<std::string>> SaidInBootBefore(std::span<const std::string_view> units);

}  // namespace pintle::log
