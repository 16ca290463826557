// SPDX-License-Identifier: Apache-2.0
#pragma once

// The message ids and Event texts that several files of the agent use.

#include <string>
#include <utility>

#include "base/log.h"
#include "plan/actions.h"

namespace pintle::agent {

inline constexpr log::MessageId kRebooting{"4bdd9e733dc448c38cc1d2b55daefddf"};
inline constexpr log::MessageId kDegraded{"c75d9d7351e34ce19634e360b946f52c"};
inline constexpr log::MessageId kNoApiServer{"abcd389170484bdbad0ed33ff86a4584"};
inline constexpr log::MessageId kFileWritten{"d307c684017043c0ad94e2ea6adf9e3b"};
inline constexpr log::MessageId kLeftAside{"5d0f3c7f3f0e4c2f9a6f0d0b6c1f7a42"};
inline constexpr log::MessageId kTrouble{"c73542cda6d2470797ac79f76f326d87"};

// Returns the reason and the message of the Event for an action that was done; the reason is null if there is no Event.
std::pair<const char*, std::string> EventFor(const plan::Action& action);

}  // namespace pintle::agent
