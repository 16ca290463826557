// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle generate`: prints the MachineConfigs that the controllers would make from the manifests in a folder.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr Option kPullSecretOption = {"--pull-secret", "FILE",
                                             "the credentials for registries, as JSON or as a Secret"};

inline constexpr std::array kGenerateOptions = {
    Option{"--templates", "DIR", "the folder of templates"},
    Option{"--from", "DIR", "the manifests: ControllerConfig, MachineConfigPools, KubeletConfigs ..."},
    kPullSecretOption,
    Option{"--only", "templates|images|runtime|features|node|kubelet",
           "print only what is made from these inputs; may be given more than once"},
    Option{"--bootstrap", "", "print what an installation would make, not what a running cluster would make"},
    Option{"--controller-version", "HASH", "annotate the configs with this version of the controller"},
    Option{"-o", "yaml|json|names|digests",
           "yaml is the default; digests are the SHA-256 of each Ignition config as the controllers write it"},
};

}  // namespace pintle::ctl
