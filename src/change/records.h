// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the log entries about changes.  The agent and the commands use the same form, and `pintle history` reads the
// entries from the system journal.

#include <string>
#include <string_view>

#include "base/log.h"
#include "change/apply.h"

namespace pintle::change {

inline constexpr log::MessageId kChangeBegan{"2107ffb5543c423c9b9d3100a62d6127"};
inline constexpr log::MessageId kChangeEnded{"2c19054583434a3a8c74986e66072fdd"};
inline constexpr log::MessageId kChangeFailed{"080c4244dc3a482ab80b9f1fce87e7cd"};
inline constexpr log::MessageId kRecovered{"4ae688f2df73460992a357932ebca64d"};

namespace record_field {
inline constexpr const char* kVerb = "PINTLE_VERB";
inline constexpr const char* kFrom = "PINTLE_FROM";
inline constexpr const char* kTo = "PINTLE_TO";
inline constexpr const char* kOutcome = "PINTLE_OUTCOME";
inline constexpr const char* kError = "PINTLE_ERROR";
}  // namespace record_field

// The outcomes of a change, in words that tools rely on.
namespace outcome {
inline constexpr const char* kNothingToDo = "nothing to do";
inline constexpr const char* kDone = "done";
inline constexpr const char* kRebooting = "rebooting";
inline constexpr const char* kRebootPending = "reboot pending";
}  // namespace outcome

// Returns the outcome of a recovery, as log entries name it.
std::string_view OutcomeOf(Recovery how);

// Returns ": " and the reason, or "" if the reason is empty.  The text does not have the word "reason", because
// Recovered::reason may only name things that were left alone.
std::string WithDetails(const std::string& reason);

// A change, as an entry describes it.  `verb` is the kind of the change, such as "update".
struct ChangeEvent {
  std::string verb;
  std::string from;
  std::string to;
};

// Return the log entries for the beginning of a change, its end, its failure, and its recovery.
log::Entry RecordOfBegin(const ChangeEvent& change);
log::Entry RecordOfEnd(const ChangeEvent& change, std::string_view outcome);
log::Entry RecordOfFailure(const ChangeEvent& change, const std::string& error);
log::Entry RecordOfRecovery(const ChangeEvent& change, const Recovered& recovered);

}  // namespace pintle::change
