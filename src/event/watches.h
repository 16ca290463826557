// SPDX-License-Identifier: Apache-2.0
#pragma once

// What can wake the loop: time, descriptors, signals, changes of files.
//
// Each of these calls its callback, on the loop's thread, for as long as the object exists.  It may be destroyed at any
// time on that thread, also from within its own callback or that of another; after that it does not call.  The loop
// must outlive them all.

#include <chrono>
#include <cstdint>
#include <functional>
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

// How much later than asked a timer may fire, so that several wake the machine once.
using Slack = std::chrono::microseconds;
inline constexpr Slack kUsualSlack = std::chrono::milliseconds(250);

void FreeSource(::sd_event_source* source);

// A callback, kept where sd-event can find it, and the source that leads to it.
template <typename... Happening>
class Watch {
 protected:
  struct Callback : std::enable_shared_from_this<Callback> {
    explicit Callback(std::function<void(Happening...)> to_call) : call(std::move(to_call)) {}
    std::function<void(Happening...)> call;
  };

  explicit Watch(std::function<void(Happening...)> callback)
      : callback_(std::make_shared<Callback>(std::move(callback))) {}

  // Calls through a second owner, so that the callback may destroy the watch, and with it what the callback holds.
  static void Call(void* callback, Happening... happening) {
    const std::shared_ptr<Callback> alive = static_cast<Callback*>(callback)->shared_from_this();
    alive->call(std::forward<Happening>(happening)...);
  }

  std::shared_ptr<Callback> callback_;
  CPtr<::sd_event_source, FreeSource> source_;  // Destroyed first: it points at the callback.
};

// Fires once for each time it is set, on the monotonic clock.
class Timer : private Watch<> {
 public:
  Timer(Loop& loop, std::function<void()> callback, Slack slack = kUsualSlack);

  // Sets it, or sets it anew.  A time that has passed fires as soon as the loop turns.
  void At(MonotonicTime when);
  void After(std::chrono::nanoseconds delay);
  void Cancel();
  bool armed() const;
};

// Fires once for each time it is set, on the wall clock: when that is put forward, earlier.
class WallTimer : private Watch<> {
 public:
  WallTimer(Loop& loop, std::function<void()> callback, Slack slack = kUsualSlack);

  void At(WallTime when);
  void Cancel();
  bool armed() const;
};

// What to wait for on a descriptor, and what has come.
struct FdReadiness {
  bool readable = false;
  bool writable = false;
  bool broken = false;  // An error or a hang-up, which comes unasked; reading or writing will tell more.
};

// Calls for as long as the descriptor is ready.  The descriptor must be closed after the watch.
class FdWatch : private Watch<FdReadiness> {
 public:
  static Result<FdWatch> Create(Loop& loop, int fd, FdReadiness wanted, std::function<void(FdReadiness)> callback);

  void WaitFor(FdReadiness wanted);

 private:
  using Watch::Watch;
  static int Dispatch(::sd_event_source* source, int fd, std::uint32_t epoll_events, void* callback);
};

// Calls when the process gets the signal, which no longer has its usual effect.
//
// Make these before other threads are started by libraries, since a thread that does not block the signal would take
// it.  The signal stays blocked when the watch is gone, so that one which comes while the program ends does not cut
// that short.  Several of a kind may come as one: for SIGCHLD, ask for every child that has ended.
class SignalWatch : private Watch<int> {
 public:
  static Result<SignalWatch> Create(Loop& loop, int signal, std::function<void(int signal)> callback);

 private:
  using Watch::Watch;
  static int Dispatch(::sd_event_source* source, const ::signalfd_siginfo* signal, void* callback);
};

struct FileChanged {
  std::string name;    // Within the watched directory; empty for the watched thing itself.
  std::uint32_t mask;  // Of inotify(7).
};
// There were more changes than the kernel's queue holds: look at everything.
struct FileChangesLost {};
// The watched thing is gone, or its file system: nothing more will come.
struct FileWatchEnded {};
using FileHappening = std::variant<FileChanged, FileChangesLost, FileWatchEnded>;

// Calls when something happens to a file or in a directory.
class InotifyWatch : private Watch<const ::inotify_event&> {
 public:
  // `mask` is one of inotify(7), such as IN_CLOSE_WRITE | IN_MOVED_TO.
  static Result<InotifyWatch> Create(Loop& loop, const std::string& path, std::uint32_t mask,
                                     std::function<void(const FileHappening&)> callback);
  // Watches what was opened, for instance below a Root.  The descriptor may be closed afterwards.
  static Result<InotifyWatch> Create(Loop& loop, const UniqueFd& opened, std::uint32_t mask,
                                     std::function<void(const FileHappening&)> callback);

 private:
  using Watch::Watch;
  static int Dispatch(::sd_event_source* source, const ::inotify_event* event, void* callback);
};

}  // namespace pintle::event
