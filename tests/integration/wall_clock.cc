// SPDX-License-Identifier: Apache-2.0

// Makes the wall clock of a program wrong by a number of seconds.  The number is in a file, and this module is
// preloaded into the program.  The tests cannot set the real clock, because their nodes share the clock of the host.
// Other clocks do not change.

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

long SecondsWrong() {
  const char* const file = std::getenv("PINTLE_WALL_CLOCK");
  const int fd = file == nullptr ? -1 : ::open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[32] = {};
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  return size > 0 ? std::strtol(text, nullptr, 10) : 0;
}

bool IsWallClock(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, struct timespec* time) noexcept {
  const int result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && IsWallClock(clock)) time->tv_sec += SecondsWrong();
  return result;
}

int gettimeofday(struct timeval* time, void*) noexcept {
  struct timespec now = {};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return result;
}

time_t time(time_t* result) noexcept {
  struct timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}
}
