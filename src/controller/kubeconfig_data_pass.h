// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides when nodes get new authorities of the API server.
//
// These are in the ConfigMap kubeconfig-data, from which the Ignition server and the nodes' agents take them.  While
// the API server's operator renews them, they change several times in a row, so they are copied when they have been the
// same for a while.  An annotation has the time of the copy; for some minutes after it, the ControllerConfig asks the
// nodes to look.

#include <optional>
#include <string>

#include "api/config_map.h"
#include "base/clock.h"

namespace pintle::controller {

// Authorities that differ from the nodes' own, and since when they are the same.
struct SettlingAuthorities {
  std::string bundle;
  WallTime since;
};

struct KubeconfigDataInputs {
  const api::ConfigMap* source = nullptr;  // kube-apiserver-server-ca; nullptr if there is none.
  const api::ConfigMap* known = nullptr;   // kubeconfig-data.
  std::optional<SettlingAuthorities> settling = {};
  WallTime now = {};
};

struct KubeconfigDataChange {
  std::optional<api::ConfigMap> next = {};
  std::optional<SettlingAuthorities> settling = {};  // To be passed to the next pass.
  std::optional<WallTime> again_at = {};             // When the pass decides otherwise although nothing has changed.
  bool are_authorities_new = false;                  // Whether nodes are to look at them.
};

KubeconfigDataChange KubeconfigDataPass(const KubeconfigDataInputs& inputs);

}  // namespace pintle::controller
