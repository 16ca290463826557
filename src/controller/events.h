// SPDX-License-Identifier: Apache-2.0
#pragma once

// The message IDs of the controller's log.

#include "base/log.h"
#include "serving/events.h"

namespace pintle::controller {

inline constexpr log::MessageId kLeadership{"25b35a927ae5434799158f863f2f1ec1"};
inline constexpr log::MessageId kTarget{"36f30a960a874bd5b16fb8f73a9144e2"};
inline constexpr log::MessageId kNodeRollout{"9777df0fb519413198a8fd46542e0016"};
inline constexpr log::MessageId kRenderFailed{"a666f3adefc9466ebaed976be5ad4504"};
inline constexpr log::MessageId kGeneratedConfig{"4a8da5866c2d324b01c2d55b4c015b18"};
inline constexpr log::MessageId kRemovedConfig{"4a8b9a21da95498ca520bb983fed90e2"};
using serving::kTrouble;  // Errors have the same ID whether the program runs in a cluster or without one.

}  // namespace pintle::controller
