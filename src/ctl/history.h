// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle history`: lists the changes of this machine that its system journal has.

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/journal_reader.h"
#include "base/result.h"
#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "json/field_list.h"

namespace pintle::ctl {

inline constexpr std::array kHistoryOptions = {kOutputOption};

struct PastChange {
  // The time when the change began, or when it ended if the journal does not have its beginning; in RFC 3339.
  std::string at;
  std::string verb;
  std::string from;
  std::string to;
  std::string outcome;
  std::optional<std::string> error;

  static constexpr auto kFields = json::FieldList{
      json::Required{"at", &PastChange::at},           json::Required{"verb", &PastChange::verb},
      json::Required{"from", &PastChange::from},       json::Required{"to", &PastChange::to},
      json::Required{"outcome", &PastChange::outcome}, json::Field{"error", &PastChange::error},
  };
};

// Joins the entry about the beginning of each change with the entry about its end.  Entries that root has not written
// are left out, since only root changes a machine.  A change without an end was cut short.  Only the last change may
// still be under way: without an end, it gets the outcome `last_outcome`.  An end without a beginning, such as that of
// a recovery, is a change of its own.
std::vector<PastChange> ChangesIn(std::span<const log::PastEntry> entries, const std::string& last_outcome);

// Returns the outcome of a last change without an end.  `is_claimed` is whether a process holds the claim on the
// machine, or an error if that is unknown.
std::string OutcomeWithoutEnd(const Result<bool>& is_claimed);

// The sources of the list.
struct HistorySources {
  std::function<Result<bool>()> is_claimed;
  std::function<Result<std::vector<log::PastEntry>>()> entries;
};
// Returns the changes, the oldest first.
Result<std::vector<PastChange>> ReadChanges(const HistorySources& sources);

}  // namespace pintle::ctl
