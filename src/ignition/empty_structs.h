// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pintle::ignition {

// Whether the JSON of a config has its empty structs; ignition/go_text.h describes both forms.
enum class EmptyStructs { kWritten, kLeftOut };

}  // namespace pintle::ignition
