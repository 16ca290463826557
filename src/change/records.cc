// SPDX-License-Identifier: Apache-2.0
#include "change/records.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

namespace pintle::change {
namespace {

log::Entry MakeEntry(log::Level level, const log::MessageId& id, const ChangeEvent& change, std::string text,
                     std::vector<log::Field> more_fields) {
  log::Entry entry;
  entry.level = level;
  entry.text = std::move(text);
  entry.message_id = id.hex();
  entry.fields = {
      {record_field::kVerb, change.verb}, {record_field::kFrom, change.from}, {record_field::kTo, change.to}};
  entry.fields.insert(entry.fields.end(), more_fields.begin(), more_fields.end());
  return entry;
}

std::string ChangeText(const ChangeEvent& change) {
  return fmt::format("{} of {} (this machine had {})", change.verb, change.to, change.from);
}

}  // namespace

std::string_view OutcomeOf(Recovery how) {
  switch (how) {
    case Recovery::kNothingToDo:
      return outcome::kNothingToDo;
    case Recovery::kUndone:
      return "undone";
    case Recovery::kFinished:
      return "finished";
    case Recovery::kToBeConfirmed:
      return "to be confirmed";
    case Recovery::kRebootNeeded:
    case Recovery::kRebootNeededToUndo:
      return outcome::kRebootPending;
  }
  return "";
}

std::string WithDetails(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

log::Entry RecordOfBegin(const ChangeEvent& change) {
  return MakeEntry(log::Level::kNotice, kChangeBegan, change, ChangeText(change) + " begins", {});
}

log::Entry RecordOfEnd(const ChangeEvent& change, std::string_view outcome) {
  return MakeEntry(log::Level::kNotice, kChangeEnded, change, fmt::format("{} ended: {}", ChangeText(change), outcome),
                   {{record_field::kOutcome, std::string(outcome)}});
}

log::Entry RecordOfFailure(const ChangeEvent& change, const std::string& error) {
  return MakeEntry(log::Level::kError, kChangeFailed, change, fmt::format("{} failed: {}", ChangeText(change), error),
                   {{record_field::kOutcome, "failed"}, {record_field::kError, error}});
}

log::Entry RecordOfRecovery(const ChangeEvent& change, const Recovered& recovered) {
  const std::string outcome = std::string(OutcomeOf(recovered.how)) + WithDetails(recovered.reason);
  return MakeEntry(log::Level::kNotice, kRecovered, change,
                   fmt::format("{} was cut short: {}", ChangeText(change), outcome),
                   {{record_field::kOutcome, outcome}});
}

}  // namespace pintle::change
