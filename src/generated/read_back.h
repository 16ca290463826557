// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file as the configs have it that were made from templates.
//
// What users change of such a file is laid over that: the Machine Config Operator makes configs of texts, and reads the
// texts back from them.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "generated/machine_config.h"

namespace pintle::generated {

// The bytes of the file in the first config, by name, that has it.  A config that cannot be read is passed over, as is
// a file whose bytes are not in the config.
std::optional<std::string> ReadBack(std::span<const MachineConfig> configs, std::string_view path);

}  // namespace pintle::generated
