// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle template`: executes one template and prints the result.

#include <array>

#include "ctl/command_line.h"
#include "ctl/generate.h"

namespace pintle::ctl {

inline constexpr std::array kTemplateOptions = {
    Option{"--data", "FILE", "the data of the template, as JSON"},
    Option{"--controller-config", "FILE", "the ControllerConfig from which the data is made, instead of --data"},
    Option{"--api-server", "FILE", "the APIServer of the cluster, which has the TLS settings"},
    kPullSecretOption,
};

}  // namespace pintle::ctl
