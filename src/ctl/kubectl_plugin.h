// SPDX-License-Identifier: Apache-2.0
#pragma once

// `kubectl-pintle`: under this name, `kubectl pintle VERB` asks the cluster that kubectl uses.

#include <span>

#include "ctl/verbs.h"

namespace pintle::ctl {

inline constexpr std::string_view kKubectlPlugin = "kubectl-pintle";

ExitStatus KubectlPlugin(std::span<const char* const> words);

}  // namespace pintle::ctl
