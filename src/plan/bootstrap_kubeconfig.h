// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kubeconfig with which a kubelet first starts.
//
// It contains the token with which any machine may ask to become a node, and new machines get it from the Ignition
// server with the mode 0644.  The Machine Config Operator's daemon makes it 0600 whatever mode the config has for it,
// and so does the agent.

#include <string_view>

namespace pintle::plan {

inline constexpr std::string_view kBootstrapKubeconfig = "/etc/kubernetes/kubeconfig";
inline constexpr unsigned kBootstrapKubeconfigMode = 0600;

}  // namespace pintle::plan
