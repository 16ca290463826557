// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many histories a program has run through: each a machine of its own with something that goes wrong on it.
//
// The programs are built with the least number that each must come to, and a whole run that stays below it fails.

namespace pintle::crash {

void CountHistory();

}  // namespace pintle::crash
