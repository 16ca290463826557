// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts the histories of a program.  A history is one run of a change in which one thing goes wrong, on a new machine.
//
// meson.build sets the least number of histories for each program; a run with fewer histories fails.

namespace pintle::crash {

void CountHistory();

// Returns whether PINTLE_NIGHTLY is set.  Runs by day have fewer histories of the kinds that have the most.
bool IsNightly();

// A test of two cuts tries one in so many pairs of calls: one in `nightly` by night, and one in twice as many by day.
int Stride(int nightly);

}  // namespace pintle::crash
