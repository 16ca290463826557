// SPDX-License-Identifier: Apache-2.0
// Compiles the codecs of all objects in kube/resource_kind.h.
#include "json/fields.h"
#include "kube/resource_kind.h"

namespace pintle::json {

template struct Coding<api::Node>;
template struct Coding<api::Pod>;
template struct Coding<api::Event>;
template struct Coding<api::Lease>;
template struct Coding<api::PodDisruptionBudget>;
template struct Coding<api::MachineConfig>;
template struct Coding<api::MachineConfigPool>;
template struct Coding<api::MachineConfigNode>;
template struct Coding<api::ControllerConfig>;
template struct Coding<api::MachineOSConfig>;
template struct Coding<api::MachineOSBuild>;
template struct Coding<api::MachineConfiguration>;

}  // namespace pintle::json
