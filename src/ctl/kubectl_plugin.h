// SPDX-License-Identifier: Apache-2.0
#pragma once

// `kubectl-pintle`: kubectl runs the program of this name for `kubectl pintle VERB`.  The program then reads the
// cluster that kubectl uses.

#include <span>

#include "ctl/verbs.h"

namespace pintle::ctl {

inline constexpr std::string_view kKubectlPlugin = "kubectl-pintle";

// Runs the verb that the first word names.
ExitStatus KubectlPlugin(std::span<const char* const> words);

}  // namespace pintle::ctl
