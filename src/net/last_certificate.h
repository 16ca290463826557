// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the certificate that expires last in a bundle of authorities.

#include <optional>
#include <vector>

#include "net/certificates.h"

namespace pintle::net {

// The kubelet's bundle of its clients' authorities has certificates of several signers, of which only the API server's
// matters.  For any other bundle, all certificates matter.
enum class BundleOf { kAnyone, kKubelet };

// Returns the certificate that expires last.  In the kubelet's bundle, only certificates that sign for the API server
// count, if there are any.
std::optional<Certificate> LastToExpire(std::vector<Certificate> certificates, BundleOf whose);

}  // namespace pintle::net
