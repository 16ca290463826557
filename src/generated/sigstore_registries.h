// SPDX-License-Identifier: Apache-2.0
#pragma once

// /etc/containers/registries.d/sigstore-registries.yaml: for which images signatures are looked up beside the images.

#include <string>

#include "base/result.h"
#include "generated/image_policies.h"
#include "generated/registries_conf.h"

namespace pintle::generated {

// Every scope of a policy, and the mirrors from which its images may come instead.  Empty if there are no policies.
Result<std::string> SigstoreRegistries(const PolicyRequirements& requirements, const RegistriesConf& conf);

}  // namespace pintle::generated
