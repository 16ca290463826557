// SPDX-License-Identifier: Apache-2.0
#pragma once

// The events that can wake the loop: timers, descriptors, signals, and changes of files.
//
// Each watch calls its callback on the loop's thread for as long as the watch exists.  It may be destroyed at any time
// on that thread, even from within its own callback or another watch's; the callback is not called after that.  The
// loop must outlive all watches.

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <variant>

#include "base/c_ptr.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

struct inotify_event;
struct sd_event_source;
struct signalfd_siginfo;

namespace pintle::event {

class Loop;

// The time by which a timer may fire late, so that the machine wakes once for several timers.
using Slack = std::chrono::microseconds;
inline constexpr Slack kUsualSlack = std::chrono::milliseconds(250);

void FreeSource(::sd_event_source* source);

// A callback, stored at an address that does not change, and the event source that calls it.
template <typename... Happening>
class Watch {
 protected:
  struct Callback : std::enable_shared_from_this<Callback> {
    explicit Callback(std::function<void(Happening...)> to_call) : call(std::move(to_call)) {}
    std::function<void(Happening...)> call;
  };

  explicit Watch(std::function<void(Happening...)> callback)
      : callback_(std::make_shared<Callback>(std::move(callback))) {}

  // Holds a second reference, so that the callback may destroy the watch while it runs.
  static void Call(void* callback, Happening... happening) {
    const std::shared_ptr<Callback> alive = static_cast<Callback*>(callback)->shared_from_this();
    alive->call(std::forward<Happening>(happening)...);
  }

  std::shared_ptr<Callback> callback_;
  CPtr<::sd_event_source, FreeSource> source_;  // Destroyed before the callback, to which it points.
};

// A timer on the monotonic clock, which fires once for each time it is set.
class Timer : private Watch<> {
 public:
  Timer(Loop& loop, std::function<void()> callback, Slack slack = kUsualSlack);

  // Sets the time at which the timer fires; a time that was set before is forgotten.  A timer that is set to a time in
  // the past fires as soon as the loop turns.
  void At(MonotonicTime when);
  void After(std::chrono::nanoseconds delay);
  void Cancel();
  // Returns whether the timer is set and has not fired yet.
  bool armed() const;
};

// A timer on the wall clock, which fires once for each time it is set.  If that clock is put forward, the timer fires
// earlier.
class WallTimer : private Watch<> {
 public:
  WallTimer(Loop& loop, std::function<void()> callback, Slack slack = kUsualSlack);

  // Sets the time at which the timer fires; a time that was set before is forgotten.
  void At(WallTime when);
  void Cancel();
  bool armed() const;
};

// The events to wait for on a descriptor, or the events that it is ready for.
struct FdReadiness {
  bool readable = false;
  bool writable = false;
  bool broken = false;  // An error or a hang-up, which is always reported; the next read or write returns the cause.
};

// Calls its callback for as long as the descriptor is ready.  The descriptor must be closed after the watch.
class FdWatch : private Watch<FdReadiness> {
 public:
  static Result<FdWatch> Create(Loop& loop, int fd, FdReadiness wanted, std::function<void(FdReadiness)> callback);

  // Replaces the events to wait for, and returns at once.
  void WaitFor(FdReadiness wanted);

 private:
  using Watch::Watch;
  static int Dispatch(::sd_event_source* source, int fd, std::uint32_t epoll_events, void* callback);
};

// Blocks signals, so that they stay pending until there is a SignalWatch for them.  A program calls this first of all,
// so that a signal during its start does not kill it.
void BlockSignals(std::initializer_list<int> signals);

// Calls its callback when the process gets the signal, which no longer has its usual effect.
//
// Create signal watches before libraries start threads, since the kernel may deliver the signal to a thread that does
// not block it.  The signal stays blocked when the watch is gone, so that a signal that arrives while the program ends
// does not kill it.  Several signals of a kind may be delivered as one: for SIGCHLD, reap every child that has ended.
class SignalWatch : private Watch<int> {
 public:
  static Result<SignalWatch> Create(Loop& loop, int signal, std::function<void(int signal)> callback);

 private:
  using Watch::Watch;
  static int Dispatch(::sd_event_source* source, const ::signalfd_siginfo* signal, void* callback);
};

struct FileChanged {
  std::string name;    // The name within the watched directory; empty for the watched file or directory itself.
  std::uint32_t mask;  // What happened, as a mask of inotify(7).
};
// There were more changes than the kernel's queue holds, so everything has to be read again.
struct FileChangesLost {};
// The watched file or its file system is gone, and no more events will come.
struct FileWatchEnded {};
using FileEvent = std::variant<FileChanged, FileChangesLost, FileWatchEnded>;

// Calls its callback when something happens to a file or in a directory.  FileChangesLost and FileWatchEnded are
// reported whatever the mask.
class InotifyWatch : private Watch<const ::inotify_event&> {
 public:
  // `mask` is a mask of inotify(7), such as IN_CLOSE_WRITE | IN_MOVED_TO.
  static Result<InotifyWatch> Create(Loop& loop, const std::string& path, std::uint32_t mask,
                                     std::function<void(const FileEvent&)> callback);
  // Watches an open file, for instance one below a Root.  The descriptor may be closed afterwards.
  static Result<InotifyWatch> Create(Loop& loop, const UniqueFd& opened, std::uint32_t mask,
                                     std::function<void(const FileEvent&)> callback);

 private:
  using Watch::Watch;
  static int Dispatch(::sd_event_source* source, const ::inotify_event* event, void* callback);
};

}  // namespace pintle::event
