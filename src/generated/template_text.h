// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the text that a template has printed into a file or a unit of an Ignition config.
//
// The text is YAML, which Go decodes into structs.  A number or a boolean becomes a text where a text is expected, and
// upper and lower case of keys do not matter.

#include <string_view>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::generated {

// Errors have the words of Go: "error unmarshaling JSON: ...".
Result<ignition::File> ReadTemplateFile(std::string_view text);
Result<ignition::Unit> ReadTemplateUnit(std::string_view text);

}  // namespace pintle::generated
