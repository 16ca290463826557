// SPDX-License-Identifier: Apache-2.0
#pragma once

// Time that passes in an instant.
//
// A program that links stopped_time.cc has its own clock_gettime(), epoll_wait() and so on in front of the C library's.
// Once StopTime() is called, all clocks stand still while the program does something.  When it has nothing to do but to
// wait, it is at once the time that it waits for.  So minutes of retries take no time, and each run of the same thing
// is the same.

namespace pintle::crash {

// For the rest of this process.  It must have one thread only.
void StopTime();

}  // namespace pintle::crash
