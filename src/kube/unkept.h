// SPDX-License-Identifier: Apache-2.0
#pragma once

// The error for a patch that the API server accepts without changing anything.
//
// There are two causes: the schema of an older release lacks a field, or a webhook takes the change back.  The next
// look would want the same patch again at once, so such a patch counts as a failure and is repeated less and less
// often.

#include "base/result.h"

namespace pintle::kube {

inline Error UnkeptError() {
  return Error(ErrorKind::kUnavailable,
               "the API server accepted the write but changed nothing; apply the CustomResourceDefinition of the "
               "release, or look for a webhook that takes the change back");
}

}  // namespace pintle::kube
