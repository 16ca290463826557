// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace pintle::gotemplate {

// Returns the error for a template, or for a function that it calls.
inline Error Invalid(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }

}  // namespace pintle::gotemplate
