// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Go types of the data that the Machine Config Operator's templates read.  Templates use the names that the fields
// have in Go, and errors of templates contain the names of the types.

#include "gotemplate/type.h"

namespace pintle::generated {

// Returns the type of the whole data.
const gotemplate::Type& RenderConfigType();

// Returns the type of its first field, which is a pointer to the spec of a ControllerConfig.
const gotemplate::Type& ControllerConfigSpecType();

}  // namespace pintle::generated
