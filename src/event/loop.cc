// SPDX-License-Identifier: Apache-2.0
#include "event/loop.h"

#include <sys/eventfd.h>
#include <systemd/sd-event.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "base/unique_fd.h"
#include "event/watches.h"

namespace pintle::event {

// The queue of tasks from other threads.  Its descriptor is readable exactly while it has tasks.
class Loop::Mailbox {
 public:
  static Result<std::unique_ptr<Mailbox>> Create(Loop& loop);

  void Put(std::function<void()> task);

 private:
  explicit Mailbox(UniqueFd bell) : bell_(std::move(bell)) {}

  std::function<void()> Take();
  void Ring();
  void Silence();

  UniqueFd bell_;
  std::mutex mutex_;
  std::deque<std::function<void()>> tasks_;
  std::optional<FdWatch> watch_;
};

Result<std::unique_ptr<Loop::Mailbox>> Loop::Mailbox::Create(Loop& loop) {
  UniqueFd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell) return Error::FromErrno("eventfd");
  std::unique_ptr<Mailbox> mailbox(new Mailbox(std::move(bell)));
  // Each turn of the loop runs one task.  So a flood of tasks cannot starve timers and descriptors, and Stop() takes
  // effect before the next task.
  mailbox->watch_ = TRY(FdWatch::Create(loop, mailbox->bell_.get(), {.readable = true},
                                        [&mailbox = *mailbox](FdReadiness) { mailbox.Take()(); }));
  return mailbox;
}

void Loop::Mailbox::Put(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) Ring();
}

std::function<void()> Loop::Mailbox::Take() {
  const std::lock_guard lock(mutex_);
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  if (tasks_.empty()) Silence();
  return task;
}

void Loop::Mailbox::Ring() {
  // The counter is never higher than one, so this write cannot fail.
  if (::eventfd_write(bell_.get(), 1) != 0) std::abort();
}

void Loop::Mailbox::Silence() {
  eventfd_t rings = 0;
  if (::eventfd_read(bell_.get(), &rings) != 0) std::abort();
}

Loop::Loop(Jobs jobs) : jobs_(jobs) {}
Loop::~Loop() = default;

void Loop::Free(::sd_event* event) { ::sd_event_unref(event); }

Result<std::unique_ptr<Loop>> Loop::Create(Jobs jobs) {
  constexpr std::string_view kDoing = "making the event loop";
  std::unique_ptr<Loop> loop(new Loop(jobs));
  const int made = ::sd_event_new(Out(loop->event_));
  if (made < 0) return Error::FromErrno("sd_event_new", -made).While(kDoing);
  loop->mailbox_ = TRY(Mailbox::Create(*loop), kDoing);
  return loop;
}

Result<> Loop::Run() {
  while (!outcome_) {
    const int turned = ::sd_event_run(event_.get(), UINT64_MAX);
    if (turned < 0) return Error::FromErrno("sd_event_run", -turned).While("running the event loop");
  }
  Result<> outcome = *std::move(outcome_);
  outcome_.reset();
  return outcome;
}

void Loop::Stop(Result<> outcome) {
  if (!outcome_) outcome_ = std::move(outcome);
}

void Loop::Post(std::function<void()> task) { mailbox_->Put(std::move(task)); }

Result<> Loop::FeedWatchdog() {
  const int set = ::sd_event_set_watchdog(event_.get(), 1);
  if (set < 0) return Error::FromErrno("sd_event_set_watchdog", -set);
  return {};
}

}  // namespace pintle::event
