// SPDX-License-Identifier: Apache-2.0
#pragma once

// Derives the DNS server's address and the IP families of a cluster from the address ranges of its services.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle::clusterops {

// Returns the address of the cluster's DNS server: the first address of the first range plus 10, such as "172.30.0.10"
// for "172.30.0.0/16".
Result<std::string> ClusterDnsAddress(const std::vector<std::string>& ranges);

// Returns "IPv4" or "IPv6" for ranges of one family.  For ranges of both families, returns "DualStackIPv6Primary" if
// the first range is of IPv6, or else "DualStack".
Result<std::string_view> IpFamiliesOf(const std::vector<std::string>& ranges);

}  // namespace pintle::clusterops
