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

// Whether drains are reported.  A machine without a cluster has none.
enum class Drains { kReported, kNone };
// Returns the actions and their reasons, for people.
std::string ConsequencesText(const plan::Plan& plan, Drains drains);

// Returns the changes and their consequences, for programs.  Some keys are those that the Machine Config Operator's own
// tools use, and the others are Pintle's.
json::Value AnswerOf(const plan::Plan& plan, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns only the actions and their reasons, for programs.
json::Value ActionsAnswer(const plan::Plan& plan);

// Returns whether the configs differ.
bool Differ(const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Returns the message that a node cannot change from one config to the other, in the Machine Config Operator's words.
std::string UnreconcilableText(const api::MachineConfig& from, const api::MachineConfig& to, std::string_view why);

}  // namespace pintle::ctl
