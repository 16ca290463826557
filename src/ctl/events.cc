// SPDX-License-Identifier: Apache-2.0
#include "ctl/events.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

namespace pintle::ctl {
namespace {

void Record(log::Level level, const log::MessageId& id, const ChangeEvent& change, std::string text,
            std::vector<log::Field> more) {
  log::Entry entry;
  entry.level = level;
  entry.text = std::move(text);
  entry.message_id = id.hex();
  entry.fields = {{event_field::kVerb, change.verb}, {event_field::kFrom, change.from}, {event_field::kTo, change.to}};
  entry.fields.insert(entry.fields.end(), more.begin(), more.end());
  log::Record(entry);
}

std::string Named(const ChangeEvent& change) {
  return fmt::format("{} of {} (this machine had {})", change.verb, change.to, change.from);
}

}  // namespace

void RecordBegin(const ChangeEvent& change) {
  Record(log::Level::kNotice, kChangeBegan, change, Named(change) + " begins", {});
}

void RecordEnd(const ChangeEvent& change, const std::string& outcome) {
  Record(log::Level::kNotice, kChangeEnded, change, fmt::format("{} ended: {}", Named(change), outcome),
         {{event_field::kOutcome, outcome}});
}

void RecordFailure(const ChangeEvent& change, const std::string& error) {
  Record(log::Level::kError, kChangeFailed, change, fmt::format("{} failed: {}", Named(change), error),
         {{event_field::kOutcome, "failed"}, {event_field::kError, error}});
}

void RecordRecovery(const ChangeEvent& change, const std::string& outcome) {
  Record(log::Level::kNotice, kRecovered, change, fmt::format("{} was cut short: {}", Named(change), outcome),
         {{event_field::kOutcome, outcome}});
}

}  // namespace pintle::ctl
