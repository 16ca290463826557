// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes waiting take no time.
//
// A program that links stopped_time.cc has its own clock_gettime(), epoll_wait() and so on in front of the C library's.
// After StopTime(), all clocks stand still while the program works.  When it only waits, the time jumps to the moment
// that it waits for.  So minutes of retries take no time, and each run is the same.

namespace pintle::crash {

// Stops the time for the rest of this process, which must have one thread only.
void StopTime();

}  // namespace pintle::crash
