// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks IP addresses as Go's package netip does.  Errors have Go's words, because errors of templates contain them.

#include <string_view>

#include "base/result.h"

namespace pintle::generated {

enum class IpVersion { kFour, kSix };

// Returns the version of an address.  An IPv6 address may have a zone, as in "fe80::1%eth0".
Result<IpVersion> VersionOfGoAddress(std::string_view text);

}  // namespace pintle::generated
