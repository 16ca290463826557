// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Machine Config Operator's messages about values of the wrong type, for which people search.

#include <string>
#include <string_view>

#include "json/report.h"

namespace pintle::ignition {

// The version of a document.
struct Spec {
  int major;
  int minor;
};

// `token` is the value as it is in the document, or its opening bracket.
std::string WrongTypeText(const json::Problem& problem, std::string_view token, Spec spec);

}  // namespace pintle::ignition
