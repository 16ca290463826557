// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes messages about values of the wrong type in the words of the Machine Config Operator, since people search for
// these words.

#include <string>
#include <string_view>

#include "json/report.h"

namespace pintle::ignition {

// The version of the Ignition specification that a document declares.
struct Spec {
  int major;
  int minor;
};

// Returns the operator's message about a problem for which Read() reported a value of the wrong type.  `token` is the
// value as it is in the document; for an object or a list, only its opening bracket.
std::string WrongTypeText(const json::Problem& problem, std::string_view token, Spec spec);

}  // namespace pintle::ignition
