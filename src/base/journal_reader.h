// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is in the system journal about events that programs of ours have logged with a MESSAGE_ID.

#include <map>
#include <span>
#include <string>
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

}  // namespace pintle::log
