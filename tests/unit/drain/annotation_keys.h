// SPDX-License-Identifier: Apache-2.0
#pragma once

// The annotations of a drain, as keys that tests look up.

#include <string>

#include "api/annotations.h"
#include "drain/protocol.h"

namespace pintle::drain {

inline const std::string kLastApplied(api::kLastAppliedDrainAnnotation);
inline const std::string kStarted(kStartedAnnotation);

}  // namespace pintle::drain
