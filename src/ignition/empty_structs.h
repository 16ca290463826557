// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pintle::ignition {

// Selects one of two forms of a config's JSON: with empty structs, or without them (ignition/go_text.h).
enum class EmptyStructs { kWritten, kLeftOut };

}  // namespace pintle::ignition
