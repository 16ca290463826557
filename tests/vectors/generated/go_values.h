// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values and functions of the gotemplate cases, as the Go program that ran these cases has them.

#include <string>

#include "gotemplate/function.h"
#include "gotemplate/value.h"

namespace pintle::vectors {

// `name` is "outer", "outerptr" or "nilptr".  The value lives as long as the program.
gotemplate::Value GoValue(const std::string& name);

const gotemplate::Functions& GoFunctions();

}  // namespace pintle::vectors
