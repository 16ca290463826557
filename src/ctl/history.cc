// SPDX-License-Identifier: Apache-2.0
#include "ctl/history.h"

#include <fmt/core.h>

#include "base/output.h"
#include "base/printable.h"
#include "base/root.h"
#include "change/claim.h"
#include "change/current_config.h"
#include "change/records.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

constexpr const char* kCutShort = "cut short";

// Returns a field of an entry, or "".
std::string FieldOf(const log::PastEntry& entry, const std::string& name) {
  const auto field = entry.fields.find(name);
  return field == entry.fields.end() ? "" : field->second;
}

// Returns whether root has written the entry.  Any user can write entries with our ids, but only the journal itself
// sets the field _UID.
bool IsByRoot(const log::PastEntry& entry) { return FieldOf(entry, "_UID") == "0"; }

PastChange ChangeFrom(const log::PastEntry& entry) {
  PastChange change;
  change.at = ToRfc3339(entry.at);
  change.verb = FieldOf(entry, change::record_field::kVerb);
  change.from = FieldOf(entry, change::record_field::kFrom);
  change.to = FieldOf(entry, change::record_field::kTo);
  change.outcome = FieldOf(entry, change::record_field::kOutcome);
  if (const std::string error = FieldOf(entry, change::record_field::kError); !error.empty()) change.error = error;
  return change;
}

std::string ShownConfig(const std::string& name) { return name == change::kNoConfig ? "no config" : Printable(name); }

std::string LineOf(const PastChange& change) {
  std::string text = fmt::format("{}  {:<8} {} -> {}  {}\n", change.at, Printable(change.verb),
                                 ShownConfig(change.from), ShownConfig(change.to), Printable(change.outcome));
  if (change.error) text += fmt::format("  {}\n", Printable(*change.error));
  return text;
}

Result<bool> IsThisMachineClaimed() {
  const Root root = TRY(Root::Open("/"));
  return change::Claim::IsHeld(root);
}

}  // namespace

std::vector<PastChange> ChangesIn(std::span<const log::PastEntry> entries, const std::string& last_outcome) {
  std::vector<PastChange> changes;
  bool is_last_open = false;
  for (const log::PastEntry& entry : entries) {
    if (!IsByRoot(entry)) continue;
    PastChange change = ChangeFrom(entry);
    const bool is_begin = FieldOf(entry, "MESSAGE_ID") == change::kChangeBegan.hex();
    const bool is_end =
        is_last_open && !is_begin && changes.back().verb == change.verb && changes.back().to == change.to;
    if (is_begin) {
      change.outcome = kCutShort;
      changes.push_back(std::move(change));
    } else if (is_end) {
      change.at = changes.back().at;
      changes.back() = std::move(change);
    } else {
      changes.push_back(std::move(change));
    }
    is_last_open = is_begin;
  }
  if (is_last_open) changes.back().outcome = last_outcome;
  return changes;
}

std::string OutcomeWithoutEnd(const Result<bool>& is_claimed) {
  // Only root can find out whether the claim is held.
  if (!is_claimed) return "under way or cut short";
  return *is_claimed ? "under way" : kCutShort;
}

Result<std::vector<PastChange>> ReadChanges(const HistorySources& sources) {
  const auto read = [&]() -> Result<std::vector<PastChange>> {
    // The claim is read first: if a change ends between these two calls, its end is among the entries.
    const Result<bool> is_claimed = sources.is_claimed();
    return ChangesIn(TRY(sources.entries()), OutcomeWithoutEnd(is_claimed));
  };
  std::vector<PastChange> changes = TRY(read());
  // The last change may have begun between the two calls, and may still be under way.  Then the second reading finds
  // its claim, or its end.
  const bool may_be_under_way = !changes.empty() && changes.back().outcome == kCutShort;
  if (may_be_under_way) return read();
  return changes;
}

Result<ExitStatus> History(const CommandLine& line) {
  const Form form = FormOf(line);
  if (!line.operands().empty()) return Error(ErrorKind::kInvalid, "this verb takes no arguments");
  constexpr std::array kIds = {change::kChangeBegan, change::kChangeEnded, change::kChangeFailed, change::kRecovered};
  const std::vector<PastChange> changes =
      TRY(ReadChanges({.is_claimed = IsThisMachineClaimed, .entries = [&] { return log::ReadJournal(kIds); }}));
  if (form != Form::kText) {
    PrintData(json::Encode(changes), form);
  } else if (changes.empty()) {
    Print("The system journal has no change of this machine, or you may not read it.\n");
  } else {
    for (const PastChange& change : changes) Print(LineOf(change));
  }
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
