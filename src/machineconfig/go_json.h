// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON as Go writes it, with < > & escaped: the limit on the size of a rendered config counts its bytes, and errors
// name places in it.

#include <cstddef>
#include <string>

#include "api/machine_config.h"
#include "json/parse.h"

namespace pintle::machineconfig {

std::string GoJson(const json::Value& value);

// The length of that, without making it.
std::size_t GoJsonLength(const json::Value& value);
std::size_t GoJsonLength(const api::MachineConfig& config);

}  // namespace pintle::machineconfig
