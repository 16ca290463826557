// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the agent says in the system journal and in Events, where it is more than one place that says it.

#include <chrono>
#include <string>
#include <utility>

#include "base/log.h"
#include "plan/actions.h"

namespace pintle::agent {

inline constexpr log::MessageId kPhaseChanged{"b3e1c6f4a8d94b0f9a4c3d1b7e52f680"};
inline constexpr log::MessageId kDegraded{"5d0f2c9b61e84a7c8e3f4b9a2d7c1e06"};
inline constexpr log::MessageId kNoApiServer{"e97a4d3c52b14f6d8a0b6c1e9f283d75"};
inline constexpr log::MessageId kTrouble{"4c81d7e09f3a4b52b6d5e2a8c07f1943"};

// The reason and the message of the Event of an action that was done; null: there is none.
std::pair<const char*, std::string> EventFor(const plan::Action& action);

// "1 hour", "10 minutes", "45 seconds".
std::string PatienceText(std::chrono::nanoseconds patience);

}  // namespace pintle::agent
