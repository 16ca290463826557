// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the Machine Config Operator says of a value that has the wrong type: people search for that.

#include <string>
#include <string_view>

#include "json/report.h"

namespace pintle::ignition {

// `token` is the value as the document has it, or its opening bracket; `minor` is the version, 3.`minor`.
std::string WrongTypeText(const json::Problem& problem, std::string_view token, int minor);

}  // namespace pintle::ignition
