// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kubeconfig with which a kubelet first starts.
//
// The file contains the token with which any machine may ask to become a node.  New machines get the file from the
// Ignition server with the mode 0644.  As the Machine Config Operator's daemon does, the agent makes the mode 0600,
// whatever mode the config has for the file.

#include <string_view>

namespace pintle::plan {

inline constexpr std::string_view kBootstrapKubeconfig = "/etc/kubernetes/kubeconfig";
inline constexpr unsigned kBootstrapKubeconfigMode = 0600;

}  // namespace pintle::plan
