// SPDX-License-Identifier: Apache-2.0
#pragma once

// Errors about YAML, in our words and in those of Go's yaml.v2.

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace pintle::machineconfig {

// Selects whether an error may quote values of a document, as Go's errors do.  If a document may have a secret in it,
// its errors must name only places.
enum class Quotes { kAllowed, kForbidden };

// Returns "not YAML: line 3: PROBLEM".
Error YamlErrorAt(std::size_t line, std::string_view problem);

// Returns "yaml: PROBLEM", which is the form of yaml.v2.
Error GoYamlError(std::string_view problem);

}  // namespace pintle::machineconfig
