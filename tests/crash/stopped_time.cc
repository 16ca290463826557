// SPDX-License-Identifier: Apache-2.0
#include "crash/stopped_time.h"

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>

namespace pintle::crash {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Returns the C library's function of this name.
template <typename Call>
Call* Real(const char* name) {
  return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

std::int64_t ToNanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }
timespec ToTimespec(std::int64_t nanoseconds) { return {nanoseconds / kSecond, nanoseconds % kSecond}; }

std::int64_t RealTime(clockid_t clock) {
  static const auto real = Real<int(clockid_t, timespec*)>("clock_gettime");
  timespec time;
  if (real(clock, &time) != 0) std::abort();
  return ToNanoseconds(time);
}

bool is_stopped = false;
// The time of each stopped clock when it was stopped, and the time that has passed since.
std::map<clockid_t, std::int64_t>* began = nullptr;
std::int64_t passed = 0;

// A timer of timerfd_create(), and the value of `passed` at which it expires.
struct Alarm {
  clockid_t clock = CLOCK_MONOTONIC;
  std::int64_t at = INT64_MAX;
};
std::map<int, Alarm>* alarms = nullptr;

bool StandsStill(clockid_t clock) { return is_stopped && began->contains(clock); }

int SetTimer(int fd, std::int64_t nanoseconds) {
  static const auto real = Real<decltype(::timerfd_settime)>("timerfd_settime");
  const itimerspec in = {{0, 0}, ToTimespec(nanoseconds)};
  return real(fd, 0, &in, nullptr);
}

// Moves the time forward to the next alarm, and lets its timer expire.
void PassToNextAlarm() {
  const auto next = std::min_element(alarms->begin(), alarms->end(),
                                     [](const auto& a, const auto& b) { return a.second.at < b.second.at; });
  // Without an alarm, the program would wait for ever.
  if (next == alarms->end() || next->second.at == INT64_MAX) std::abort();
  passed = std::max(passed, next->second.at);
  next->second.at = INT64_MAX;
  if (SetTimer(next->first, 1) != 0) std::abort();
}

}  // namespace

void StopTime() {
  began = new std::map<clockid_t, std::int64_t>;
  alarms = new std::map<int, Alarm>;
  for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME}) {
    began->emplace(clock, RealTime(clock));
  }
  is_stopped = true;
}

}  // namespace pintle::crash

extern "C" {

using pintle::crash::alarms;
using pintle::crash::began;
using pintle::crash::is_stopped;
using pintle::crash::passed;
using pintle::crash::PassToNextAlarm;
using pintle::crash::Real;
using pintle::crash::SetTimer;
using pintle::crash::StandsStill;
using pintle::crash::ToNanoseconds;
using pintle::crash::ToTimespec;

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = Real<int(clockid_t, timespec*)>("clock_gettime");
  if (!StandsStill(clock)) return real(clock, time);
  *time = ToTimespec(began->at(clock) + passed);
  return 0;
}

int nanosleep(const timespec* time, timespec* left) {
  static const auto real = Real<decltype(::nanosleep)>("nanosleep");
  if (!is_stopped) return real(time, left);
  passed += ToNanoseconds(*time);
  return 0;
}

int timerfd_create(int clock, int flags) noexcept {
  static const auto real = Real<decltype(::timerfd_create)>("timerfd_create");
  const int fd = real(clock, flags);
  if (fd >= 0 && StandsStill(clock)) (*alarms)[fd] = {clock, INT64_MAX};
  return fd;
}

int timerfd_settime(int fd, int flags, const itimerspec* in, itimerspec* before) noexcept {
  static const auto real = Real<decltype(::timerfd_settime)>("timerfd_settime");
  const auto alarm = is_stopped ? alarms->find(fd) : decltype(alarms->find(fd)){};
  if (!is_stopped || alarm == alarms->end()) return real(fd, flags, in, before);
  const std::int64_t time = ToNanoseconds(in->it_value);
  const bool is_absolute = (flags & TFD_TIMER_ABSTIME) != 0;
  const std::int64_t at = is_absolute ? time - began->at(alarm->second.clock) : passed + time;
  const bool is_due = time != 0 && at <= passed;
  alarm->second.at = time == 0 || is_due ? INT64_MAX : at;
  return SetTimer(fd, is_due ? 1 : 0);
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  static const auto real = Real<decltype(::epoll_wait)>("epoll_wait");
  if (!is_stopped || timeout == 0) return real(epoll, events, most, timeout);
  const int ready = real(epoll, events, most, 0);
  if (ready != 0) return ready;
  PassToNextAlarm();
  return real(epoll, events, most, -1);
}

// Newer versions of libsystemd call this function.
int epoll_pwait2(int epoll, epoll_event* events, int most, const timespec* timeout, const sigset_t* signals) {
  static const auto real = Real<int(int, epoll_event*, int, const timespec*, const sigset_t*)>("epoll_pwait2");
  if (!is_stopped) return real(epoll, events, most, timeout, signals);
  return epoll_wait(epoll, events, most, timeout == nullptr ? -1 : static_cast<int>(ToNanoseconds(*timeout) != 0));
}

}  // extern "C"
