// SPDX-License-Identifier: Apache-2.0
#pragma once

// The credentials with which nodes pull images, as a Secret of the cluster has them.
//
// Errors contain the names of Secrets and of their keys, and never the credentials.

#include <string>
#include <string_view>

#include "api/secret.h"
#include "base/result.h"

namespace pintle::generated {

// The Secret with the password of the release registry.  An InternalReleaseImage makes the nodes of the control plane
// run this registry, which has the images of the release.
inline constexpr std::string_view kReleaseRegistrySecret = "internal-release-image-registry-auth";

// Returns the pull secret from the Secret that has it.  The pull secret is JSON.
Result<std::string> PullSecretIn(const api::Secret& secret);

// Adds the credentials of the release registry.  The registry has one address for all nodes, and another for the node
// that it runs on.
//
// `registry` is the Secret with the registry's password, or nullptr if there is none.  If the pull secret already has
// the credentials for both addresses, it is returned unchanged, byte for byte.
Result<std::string> WithReleaseRegistry(std::string pull_secret, const api::Secret* registry,
                                        std::string_view base_domain);

}  // namespace pintle::generated
