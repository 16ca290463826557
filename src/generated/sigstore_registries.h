// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes /etc/containers/registries.d/sigstore-registries.yaml, which lists the images whose signatures the container
// tools read from the image's own repository.

#include <string>

#include "base/result.h"
#include "generated/image_policies.h"
#include "generated/registries_conf.h"

namespace pintle::generated {

// Lists every scope of a policy, and all places from which container tools pull the images of the scope: the locations
// and mirrors that registries.conf has for the scope, and for parts of the scope.  The text is empty if there are no
// policies.
Result<std::string> SigstoreRegistries(const PolicyRequirements& requirements, const RegistriesConf& conf);

}  // namespace pintle::generated
