// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace pintle::generated {

// Makes the error about an input from which nothing can be generated.
inline Error Invalid(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }

}  // namespace pintle::generated
