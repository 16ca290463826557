// SPDX-License-Identifier: Apache-2.0
#pragma once

// The message IDs of the Ignition server's log.

#include "base/log.h"

namespace pintle::serving {

// Errors and warnings that have no ID of their own.
inline constexpr log::MessageId kTrouble{"c246d18e1e0d4296902505d4e4b97761"};
// A machine got no config, because of a fault of the server or of the pool.
inline constexpr log::MessageId kNoConfigServed{"20a908394ecc487ca4ea50b106c444bf"};
// The new certificate cannot be used, and the previous one stays in use.
inline constexpr log::MessageId kCertificateTrouble{"7693c209462f40e4bcda0c689eeb1984"};
inline constexpr log::MessageId kCertificateRenewed{"ed02f9da39774649869fe742d5468b2a"};
// The new keys cannot be used, and the previous ones stay in use.
inline constexpr log::MessageId kTokenKeysTrouble{"4d00137832fe4f14858ef54a68e8f08c"};
inline constexpr log::MessageId kTokenKeysRenewed{"b95463c73c24497daeb927eb8dfc4416"};

}  // namespace pintle::serving
