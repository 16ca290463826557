// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the Machine Config Operator says of a value that has the wrong type: people search for that.

#include <string>
#include <string_view>

#include "json/report.h"

namespace pintle::ignition {

// The version of a document.
struct Spec {
  int major;
  int minor;
};

// `token` is the value as the document has it, or its opening bracket.
std::string WrongTypeText(const json::Problem& problem, std::string_view token, Spec spec);

}  // namespace pintle::ignition
