// SPDX-License-Identifier: Apache-2.0
#pragma once

// The problems that the controllers report in the statuses of the objects that configs are made from.

#include <string>
#include <string_view>
#include <vector>

#include "controller/generate_changes.h"
#include "json/value.h"

namespace pintle::controller {

// Returns the name of a kind in the API, such as "KubeletConfig".
std::string_view KindOfSource(SourceKind kind);

// Returns the messages of those conditions in a status that report a problem.
std::vector<std::string> ProblemsIn(SourceKind source, const json::Value& status);

}  // namespace pintle::controller
