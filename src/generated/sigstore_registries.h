// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes /etc/containers/registries.d/sigstore-registries.yaml.  It lists images with signatures stored beside them.

#include <string>

#include "base/result.h"
#include "generated/image_policies.h"
#include "generated/registries_conf.h"

namespace pintle::generated {

// Lists every scope of a policy, and all places from which container tools pull the images of the scope.  These are
// mirrors of the scope, and entries of registries.conf inside of it.  The text is empty if there are no policies.
Result<std::string> SigstoreRegistries(const PolicyRequirements& requirements, const RegistriesConf& conf);

}  // namespace pintle::generated
