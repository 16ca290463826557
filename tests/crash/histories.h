// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the histories of a program.  A history is one run of a change in which one thing goes wrong, on a new machine.
//
// meson.build sets the least number of histories for each program; a run with fewer histories fails.

namespace pintle::crash {

void CountHistory();

// Tests with very many histories, such as those with two faults, try one in so many: one in `nightly` if PINTLE_NIGHTLY
// is set, and one in twice as many by day.
int Stride(int nightly);

}  // namespace pintle::crash
