// SPDX-License-Identifier: Apache-2.0
#pragma once

// Derives the address of the DNS server and the families of addresses from the ranges of a cluster's services.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle::clusterops {

// Returns the tenth address of the first range, which the cluster's DNS server has.  Ranges are "172.30.0.0/16".
Result<std::string> ClusterDnsAddress(const std::vector<std::string>& ranges);

// Returns "IPv4", "IPv6", "DualStack", or "DualStackIPv6Primary" if the first of ranges of both kinds is of IPv6.
Result<std::string_view> IpFamiliesOf(const std::vector<std::string>& ranges);

}  // namespace pintle::clusterops
