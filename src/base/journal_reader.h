// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the system journal: events that our programs have logged with a MESSAGE_ID, and messages that services logged
// in the previous boot.

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

// Returns all entries with these ids from all boots that the journal still has, the oldest first.
Result<std::vector<PastEntry>> ReadJournal(std::span<const MessageId> ids);

// Returns the messages that these services logged as root in the previous boot, in order.  The result is empty if there
// are none, or if the journal has no entries of that boot.
Result<std::vector<std::string>> MessagesOfPreviousBoot(std::span<const std::string_view> units);

}  // namespace pintle::log
