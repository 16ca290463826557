// SPDX-License-Identifier: Apache-2.0
#pragma once

// The credentials with which nodes pull OS images from the registry that runs in the cluster.
//
// OpenShift gives the account machine-os-puller Secrets with credentials for that registry, and renews them.  Nodes use
// one file for all registries, so these credentials are merged with the cluster's pull secret.  Errors contain the
// names of Secrets and of their keys, and never the credentials.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/secret.h"
#include "base/result.h"

namespace pintle::clusterops {

// The ServiceAccount that may pull from the registry.
inline constexpr const char* kPullingAccount = "machine-os-puller";

// A Secret that another object names; `secret` is unset if there is no Secret with this name.
struct NamedSecret {
  std::string name;
  std::optional<api::Secret> secret = {};
};

struct RegistryCredentialInputs {
  bool has_account = false;                       // Whether kPullingAccount exists.
  std::vector<NamedSecret> account_secrets = {};  // The imagePullSecrets of the account, in its order.
  std::optional<api::Secret> pull_secret = {};    // openshift-config/pull-secret
  std::string why_unreadable = {};                // Why some of these objects cannot be read, or "".
};

// Returns the merged credentials as JSON, as programs read it from ~/.docker/config.json, or "" if there are none.  Of
// two credentials for one registry, those of the pull secret count, because a person has set them.  `base_domain` is
// the domain of the cluster, or empty.  The cluster's registry may also have an address in this domain, for clients
// outside of the cluster; this address gets the same credentials.
Result<std::string> MergedRegistryCredentials(const RegistryCredentialInputs& inputs, std::string_view base_domain);

}  // namespace pintle::clusterops
