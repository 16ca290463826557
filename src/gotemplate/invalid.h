// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace pintle::gotemplate {

// Makes an error of a template, or of a function that a template calls.
inline Error Invalid(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }

}  // namespace pintle::gotemplate
