// SPDX-License-Identifier: Apache-2.0
#pragma once

// Derives the DNS server's address and the IP families of a cluster from the address ranges of its services.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle::clusterops {

// Returns the address of the cluster's DNS server: the tenth of the first range, such as "172.30.0.10" of
// "172.30.0.0/16".
Result<std::string> ClusterDnsAddress(const std::vector<std::string>& ranges);

// Returns "IPv4" or "IPv6", or, for ranges of both families, "DualStack" or "DualStackIPv6Primary": the first range
// decides.
Result<std::string_view> IpFamiliesOf(const std::vector<std::string>& ranges);

}  // namespace pintle::clusterops
