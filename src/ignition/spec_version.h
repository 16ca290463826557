// SPDX-License-Identifier: Apache-2.0
#pragma once

// The versions of the Ignition specification that a client may request.  They include 3.0, although converting a
// config to 3.0 is always an error.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::ignition {

enum class SpecVersion { k2_2, k3_0, k3_1, k3_2, k3_3, k3_4, k3_5 };

// Returns a text such as "3.5.0".
std::string_view ToText(SpecVersion version);

// Reads "3.5" or "3.5.0".
Result<SpecVersion> ParseSpecVersion(std::string_view text);

// Returns the version to serve to a client that sent this Accept header.  A header that names no version of Ignition
// asks for 2.2.  If the version that the client prefers cannot be served, the result is an error.
Result<SpecVersion> Negotiate(std::string_view accept);

}  // namespace pintle::ignition
