// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a template has printed, to a file or a unit of an Ignition config.
//
// It is YAML that Go decodes into structs: a number or a truth becomes a text where one is wanted, and names of keys
// may have letters of either case.

#include <string_view>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::generated {

// Errors have Go's words: "error unmarshaling JSON: ...".
Result<ignition::File> ReadTemplateFile(std::string_view text);
Result<ignition::Unit> ReadTemplateUnit(std::string_view text);

}  // namespace pintle::generated
