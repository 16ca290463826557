// SPDX-License-Identifier: Apache-2.0
#pragma once

// What lies between two configs, and what a node has to do to get from one to the other: for people, with secrets
// masked, and for programs.

#include <string>
#include <string_view>

#include "change/private_lines.h"
#include "json/parse.h"
#include "machineconfig/reconcilable.h"
#include "plan/plan.h"

namespace pintle::ctl {

// For people: what changes, line by line.
std::string ChangesText(const plan::Plan& plan, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                        change::PrivateLines private_lines);

// For people: what follows, and why.  Of a machine without a cluster nothing is drained.
enum class Drains { kTold, kNone };
std::string ConsequencesText(const plan::Plan& plan, Drains drains);

// For programs: all of it, with the keys that the Machine Config Operator's own tools use, and ours beside them.
json::Value AnswerOf(const plan::Plan& plan, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// Of it, what follows and why.
json::Value ActionsAnswer(const plan::Plan& plan);

bool Differ(const plan::ParsedConfig& from, const plan::ParsedConfig& to);

// That a node cannot get from one to the other, in the words of the Machine Config Operator.
std::string UnreconcilableText(const api::MachineConfig& from, const api::MachineConfig& to, std::string_view why);

}  // namespace pintle::ctl
