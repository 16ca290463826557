// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the histories of a program.  In each history, something goes wrong on a machine of its own.
//
// Each program is built with the least number that it must reach; a whole run with fewer histories fails.

namespace pintle::crash {

void CountHistory();

}  // namespace pintle::crash
