// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides when nodes get new authorities of the API server.
//
// The pass copies the authorities to the ConfigMap kubeconfig-data, from which the Ignition server and the nodes'
// agents read them.  While the API server's operator renews the authorities, they change several times in a row.  So
// the authorities are copied when they have not changed for a while.  An annotation of the copy has the time of
// copying.  For some minutes after that time, an annotation of the ControllerConfig asks the nodes to read the copy.

#include <optional>
#include <string>
#include <string_view>

#include "api/config_map.h"
#include "base/clock.h"

namespace pintle::controller {

// The annotation of kubeconfig-data with the time of copying.
inline constexpr std::string_view kCopiedAtAnnotation = "pintle.io/copied-at";

// Authorities that are not copied yet, and the time since which they have not changed.
struct SettlingAuthorities {
  std::string bundle;
  WallTime since;
};

struct KubeconfigDataInputs {
  const api::ConfigMap* source = nullptr;  // kube-apiserver-server-ca; nullptr if there is none.
  const api::ConfigMap* known = nullptr;   // kubeconfig-data; nullptr if there is none.
  std::optional<SettlingAuthorities> settling = {};
  WallTime now = {};
};

struct KubeconfigDataChange {
  std::optional<api::ConfigMap> next = {};           // The copy to write; unset if nothing is written.
  std::optional<SettlingAuthorities> settling = {};  // An input of the next pass.
  std::optional<WallTime> again_at = {};             // When the pass has to run again, even without a change.
  bool are_authorities_new = false;                  // Nodes are asked to read the copy.
  std::string problem = {};                          // Why the authorities cannot be copied, or "".
};

KubeconfigDataChange KubeconfigDataPass(const KubeconfigDataInputs& inputs);

}  // namespace pintle::controller
