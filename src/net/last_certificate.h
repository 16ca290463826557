// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the certificate that expires last in a bundle of authorities.

#include <optional>
#include <vector>

#include "net/certificates.h"

namespace pintle::net {

// The bundle with which kubelets verify their clients has certificates of several signers.  Only the signer of the API
// server's client certificate matters there; in any other bundle, all certificates matter.
enum class BundleOf { kAnyone, kKubelet };

// Returns the certificate that expires last.  In the kubelet's bundle, only certificates of that signer count, if there
// are any.
std::optional<Certificate> LastToExpire(std::vector<Certificate> certificates, BundleOf whose);

}  // namespace pintle::net
