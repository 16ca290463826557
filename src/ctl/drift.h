// SPDX-License-Identifier: Apache-2.0
#pragma once

// What on a machine is not as its config says, for people.

#include <string>
#include <vector>

#include "change/drift.h"

namespace pintle::ctl {

std::string DriftsText(const change::Drifts& drifts);

// What a line says that names who wrote something; nothing if that is not known.
std::string WritersText(const std::vector<std::string>& names);

}  // namespace pintle::ctl
