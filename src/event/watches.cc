// SPDX-License-Identifier: Apache-2.0
#include "event/watches.h"

#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <systemd/sd-event.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "event/loop.h"
#include "event/urgent_timer.h"

namespace pintle::event {
namespace {

// Aborts the program if the result of a call is an error.  Use it for calls that fail only if memory runs out, or if
// their caller breaks a contract.
void MustSucceed(int result) {
  if (result < 0) std::abort();
}

template <typename Time>
std::uint64_t Microseconds(Time time) {
  // A negative time becomes zero, which is in the past for every clock.  The greatest value would mean "never" to
  // sd-event, but no time comes near that value.
  const auto since = std::chrono::ceil<std::chrono::microseconds>(time.time_since_epoch());
  return static_cast<std::uint64_t>(std::max(since, std::chrono::microseconds(0)).count());
}

void SetTime(sd_event_source* source, std::uint64_t when) {
  MustSucceed(::sd_event_source_set_time(source, when));
  MustSucceed(::sd_event_source_set_enabled(source, SD_EVENT_ONESHOT));
}

void Disable(sd_event_source* source) { MustSucceed(::sd_event_source_set_enabled(source, SD_EVENT_OFF)); }

bool IsEnabled(sd_event_source* source) { return ::sd_event_source_get_enabled(source, nullptr) > 0; }

// Adds a disabled timer to the loop.  The first timer of each clock opens a descriptor that all timers of this clock
// share, and that the loop keeps; so a later timer does not fail for lack of descriptors.
void AddTime(Loop& loop, sd_event_source** source, clockid_t clock, Slack slack, sd_event_time_handler_t dispatch,
             void* callback) {
  // To sd-event, zero would mean the default accuracy.
  const auto accuracy = static_cast<std::uint64_t>(std::max(slack, Slack(1)).count());
  MustSucceed(::sd_event_add_time(loop.handle(), source, clock, 0, accuracy, dispatch, callback));
  Disable(*source);
}

std::uint32_t ToEpoll(FdReadiness wanted) {
  std::uint32_t events = 0;
  if (wanted.readable) events |= EPOLLIN;
  if (wanted.writable) events |= EPOLLOUT;
  return events;
}

FdReadiness FromEpoll(std::uint32_t events) {
  return {.readable = (events & EPOLLIN) != 0,
          .writable = (events & EPOLLOUT) != 0,
          .broken = (events & (EPOLLERR | EPOLLHUP)) != 0};
}

// sd-event before systemd 258 loops for ever when an event arrives for a watched file and no source asks for that event
// (https://github.com/systemd/systemd/issues/38265), for instance because the source that did has just been freed.
// So all watches ask for the same events, and an InotifyWatch passes on only those that its user wants.
constexpr std::uint32_t kRequested = IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MODIFY |
                                     IN_MOVE_SELF | IN_MOVED_FROM | IN_MOVED_TO;
constexpr std::uint32_t kAlwaysReported = IN_Q_OVERFLOW | IN_IGNORED | IN_UNMOUNT;

FileEvent FromInotify(const inotify_event& event) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) return FileChangesLost{};
  if ((event.mask & IN_IGNORED) != 0) return FileWatchEnded{};
  // The name is padded with zeros, and absent when its length is zero.
  return FileChanged{.name = event.len == 0 ? std::string() : std::string(event.name), .mask = event.mask};
}

// Returns a text that names the exhausted resource and how to raise its limit, or "" for any other error.
std::string_view RemedyForInotify(int errno_value) {
  if (errno_value == ENOSPC) return ": there are too few inotify watches; raise the sysctl fs.inotify.max_user_watches";
  if (errno_value == EMFILE) {
    return ": there are too few descriptors or inotify instances; raise the sysctl fs.inotify.max_user_instances or "
           "the unit's LimitNOFILE=";
  }
  return "";
}

}  // namespace

void FreeSource(sd_event_source* source) { ::sd_event_source_disable_unref(source); }

Timer::Timer(Loop& loop, std::function<void()> callback, Slack slack) : Watch(std::move(callback)) {
  const auto dispatch = [](sd_event_source*, std::uint64_t, void* called) {
    Call(called);
    return 0;
  };
  AddTime(loop, Out(source_), CLOCK_MONOTONIC, slack, dispatch, callback_.get());
}

void Timer::At(MonotonicTime when) { SetTime(source_.get(), Microseconds(when)); }
void Timer::After(std::chrono::nanoseconds delay) { At(std::chrono::steady_clock::now() + delay); }
void Timer::Cancel() { Disable(source_.get()); }
bool Timer::armed() const { return IsEnabled(source_.get()); }

UrgentTimer::UrgentTimer(Loop& loop, std::function<void()> callback) : Watch(std::move(callback)) {
  const auto dispatch = [](sd_event_source*, std::uint64_t, void* called) {
    Call(called);
    return 0;
  };
  AddTime(loop, Out(source_), CLOCK_MONOTONIC, std::chrono::milliseconds(1), dispatch, callback_.get());
  MustSucceed(::sd_event_source_set_priority(source_.get(), SD_EVENT_PRIORITY_IMPORTANT));
}

void UrgentTimer::At(MonotonicTime when) { SetTime(source_.get(), Microseconds(when)); }
void UrgentTimer::Cancel() { Disable(source_.get()); }

WallTimer::WallTimer(Loop& loop, std::function<void()> callback, Slack slack) : Watch(std::move(callback)) {
  const auto dispatch = [](sd_event_source*, std::uint64_t, void* called) {
    Call(called);
    return 0;
  };
  AddTime(loop, Out(source_), CLOCK_REALTIME, slack, dispatch, callback_.get());
}

void WallTimer::At(WallTime when) { SetTime(source_.get(), Microseconds(when)); }
void WallTimer::Cancel() { Disable(source_.get()); }
bool WallTimer::armed() const { return IsEnabled(source_.get()); }

Result<FdWatch> FdWatch::Create(Loop& loop, int fd, FdReadiness wanted, std::function<void(FdReadiness)> callback) {
  FdWatch watch(std::move(callback));
  const int added = ::sd_event_add_io(loop.handle(), Out(watch.source_), fd, ToEpoll(wanted), &FdWatch::Dispatch,
                                      watch.callback_.get());
  if (added < 0) return Error::FromErrno("sd_event_add_io", -added).While("watching a descriptor");
  return watch;
}

void FdWatch::WaitFor(FdReadiness wanted) {
  MustSucceed(::sd_event_source_set_io_events(source_.get(), ToEpoll(wanted)));
}

int FdWatch::Dispatch(sd_event_source*, int, std::uint32_t epoll_events, void* callback) {
  Call(callback, FromEpoll(epoll_events));
  return 0;
}

void BlockSignals(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  MustSucceed(-::pthread_sigmask(SIG_BLOCK, &set, nullptr));
}

Result<SignalWatch> SignalWatch::Create(Loop& loop, int signal, std::function<void(int)> callback) {
  const auto doing = [&] { return fmt::format("watching for SIG{}", ::sigabbrev_np(signal)); };
  SignalWatch watch(std::move(callback));
  BlockSignals({signal});
  const int added =
      ::sd_event_add_signal(loop.handle(), Out(watch.source_), signal, &SignalWatch::Dispatch, watch.callback_.get());
  if (added < 0) return Error::FromErrno("sd_event_add_signal", -added).While(doing());
  return watch;
}

int SignalWatch::Dispatch(sd_event_source*, const signalfd_siginfo* signal, void* callback) {
  Call(callback, static_cast<int>(signal->ssi_signo));
  return 0;
}

Result<InotifyWatch> InotifyWatch::Create(Loop& loop, const std::string& path, std::uint32_t mask,
                                          std::function<void(const FileEvent&)> callback) {
  InotifyWatch watch([mask, callback = std::move(callback)](const inotify_event& event) {
    if ((event.mask & (mask | kAlwaysReported)) != 0) callback(FromInotify(event));
  });
  const int added = ::sd_event_add_inotify(loop.handle(), Out(watch.source_), path.c_str(), mask | kRequested,
                                           &InotifyWatch::Dispatch, watch.callback_.get());
  if (added < 0) {
    return Error::FromErrno(fmt::format("inotify{}", RemedyForInotify(-added)), -added).While("watching " + path);
  }
  return watch;
}

Result<InotifyWatch> InotifyWatch::Create(Loop& loop, const UniqueFd& opened, std::uint32_t mask,
                                          std::function<void(const FileEvent&)> callback) {
  // The kernel resolves this link to the opened file itself, even if its path has changed.
  return Create(loop, fmt::format("/proc/self/fd/{}", opened.get()), mask, std::move(callback));
}

int InotifyWatch::Dispatch(sd_event_source*, const inotify_event* event, void* callback) {
  Call(callback, *event);
  return 0;
}

}  // namespace pintle::event
