// SPDX-License-Identifier: Apache-2.0
#pragma once

// By which of its certificates a bundle of authorities goes on being good.

#include <optional>
#include <vector>

#include "net/certificates.h"

namespace pintle::net {

// What the kubelet trusts its callers by has authorities of several signers.  The API server's is the one that counts.
enum class BundleOf { kAnyone, kKubelet };

// The one that ends last; of the kubelet's bundle only those count that sign for the API server, if there are any.
std::optional<Certificate> LastToEnd(std::vector<Certificate> certificates, BundleOf whose);

}  // namespace pintle::net
