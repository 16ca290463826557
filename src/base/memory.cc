// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <malloc.h>

namespace pintle {

void ReleaseIdleMemory() { ::malloc_trim(0); }

}  // namespace pintle
