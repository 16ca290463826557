// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes the changes between two configs, and what a node has to do for them: for people, with secrets masked, and
// for programs.

#include <string>
#include <string_view>

#include "change/private_lines.h"
#include "json/parse.h"
#include "machineconfig/reconcilable.h"
#include "plan/plan.h"

namespace pintle::ctl {

// Returns the changes line by line, for people.
std::string ChangesText(const plan::Plan& plan, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                        change::PrivateLines private_lines);

// Returns the actions and their reasons, for people.  A machine without a cluster has no drains to report.
enum class Drains { kReported, kNone };
std::string ConsequencesText(const plan::Plan& plan, Drains drains);

// Returns everything for programs: under the keys that the Machine Config Operator's own tools use, and under further
// keys of Pintle.
json::Value AnswerOf(const plan::Plan& plan, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns only the actions and their reasons.
json::Value ActionsAnswer(const plan::Plan& plan);

bool Differ(const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns the message that a node cannot change from one config to the other, in the Machine Config Operator's words.
std::string UnreconcilableText(const api::MachineConfig& from, const api::MachineConfig& to, std::string_view why);

}  // namespace pintle::ctl
