// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values and functions that the cases of gotemplate are about: GO_VALUES.md beside them says what they are.

#include <string>

#include "gotemplate/function.h"
#include "gotemplate/value.h"

namespace pintle::vectors {

// "outer", "outerptr" or "nilptr".  Lives as long as the program.
gotemplate::Value GoValue(const std::string& name);

const gotemplate::Functions& GoFunctions();

}  // namespace pintle::vectors
