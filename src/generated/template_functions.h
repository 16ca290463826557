// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that the operator's templates have in addition to the built-in ones.

#include <string_view>

#include "gotemplate/function.h"

namespace pintle::generated {

// Returns these functions, without the built-in ones.
const gotemplate::Functions& TemplateFunctions();

// Returns whether TemplateFunctions() or the built-in functions include this name.
bool IsTemplateFunction(std::string_view name);

// Returns whether the cluster serves its own DNS in a cloud (DNSType ClusterHosted) and its status has the addresses of
// the cloud's load balancers.
bool HasCloudLoadBalancerAddresses(const gotemplate::Value& render_config);

// Returns whether the cluster itself provides load balancing and DNS on this platform.
bool IsOnPremises(std::string_view platform);

}  // namespace pintle::generated
