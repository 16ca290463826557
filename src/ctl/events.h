// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `pintle` does to a machine, as the system journal has it.

#include <optional>
#include <string>

#include "base/log.h"

namespace pintle::ctl {

inline constexpr log::MessageId kChangeBegan{"2107ffb5543c423c9b9d3100a62d6127"};
inline constexpr log::MessageId kChangeEnded{"2c19054583434a3a8c74986e66072fdd"};
inline constexpr log::MessageId kChangeFailed{"080c4244dc3a482ab80b9f1fce87e7cd"};
inline constexpr log::MessageId kRecovered{"4ae688f2df73460992a357932ebca64d"};
// What a new machine has to do first has failed, and is tried again.
inline constexpr log::MessageId kFirstBootFailed{"f0d1d1f11dab4010b6c01b4532e77d7d"};

namespace event_field {
inline constexpr const char* kVerb = "PINTLE_VERB";
inline constexpr const char* kFrom = "PINTLE_FROM";
inline constexpr const char* kTo = "PINTLE_TO";
inline constexpr const char* kOutcome = "PINTLE_OUTCOME";
inline constexpr const char* kError = "PINTLE_ERROR";
}  // namespace event_field

// Of a change: what is done, and the names of the configs.
struct ChangeEvent {
  std::string verb;
  std::string from;
  std::string to;
};

void RecordBegin(const ChangeEvent& change);
void RecordEnd(const ChangeEvent& change, const std::string& outcome);
void RecordFailure(const ChangeEvent& change, const std::string& error);
void RecordRecovery(const ChangeEvent& change, const std::string& outcome);

}  // namespace pintle::ctl
