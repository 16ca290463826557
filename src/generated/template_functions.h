// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that the Operator's templates call beside those that all templates have.

#include "gotemplate/function.h"

namespace pintle::generated {

const gotemplate::Functions& TemplateFunctions();

// Whether the cluster's load balancer is one of a cloud whose addresses are known, so that its nodes serve their own
// DNS.
bool HasCloudLoadBalancerAddresses(const gotemplate::Value& render_config);

// Whether load balancing and DNS are the cluster's own affair on this platform.
bool IsOnPremises(std::string_view platform);

}  // namespace pintle::generated
