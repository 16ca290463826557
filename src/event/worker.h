// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread for work that would hold up the loop: reading, writing, hashing.
//
// A job owns its arguments, shares nothing with the loop, and returns one value.  So a job does the same if the loop's
// own thread runs it (Loop::Jobs::kInTurns).

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace pintle::event {

class Loop;

class Worker {
 public:
  static Result<std::unique_ptr<Worker>> Create(Loop& loop);

  // Asks the running job to stop, waits until it has stopped, and drops the jobs that wait.  No `done` is called any
  // more.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs `job(stop_token)` on the worker's thread after all earlier jobs, then `done(value)` on the loop's thread.
  // Both may hold objects that can only be moved.
  //
  //     worker.Run<Result<Plan>>([from, to](std::stop_token) { return plan::Make(from, to); },
  //                              [this](Result<Plan> plan) { Planned(std::move(plan)); });
  template <typename T, typename Work, typename Done>
  void Run(Work work, Done done) {
    static_assert(std::is_invocable_r_v<T, Work, std::stop_token> && std::is_invocable_v<Done, T>);
    Add(std::make_unique<JobOf<T, Work, Done>>(std::move(work), std::move(done)));
  }

  // Asks all jobs given so far to stop.  Each still runs, with a token on which stop was requested, and its `done` is
  // called.
  void Cancel();

 private:
  class Job {
   public:
    virtual ~Job() = default;
    virtual void Run() = 0;     // Runs on the worker's thread.
    virtual void Finish() = 0;  // Runs on the loop's thread.
    std::stop_source stop;
  };

  template <typename T, typename Work, typename Done>
  class JobOf final : public Job {
   public:
    JobOf(Work work, Done done) : work_(std::move(work)), done_(std::move(done)) {}
    void Run() override { value_.emplace(work_(stop.get_token())); }
    void Finish() override { done_(*std::move(value_)); }

   private:
    Work work_;
    Done done_;
    std::optional<T> value_;
  };

  struct Alive {};

  explicit Worker(Loop& loop) : loop_(loop) {}

  Result<> Start();
  void Add(std::unique_ptr<Job> job);
  void FinishOldest();
  void RunJobs();
  void RunNextJob();
  void PostEnd();
  Job* NextJob();

  Loop& loop_;
  // The oldest job comes first.  Jobs are made and destroyed on the loop's thread, where their `done` belongs.
  std::deque<std::unique_ptr<Job>> unfinished_;
  // Tasks that were posted to the loop do nothing if this object, and so the worker, is gone.
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
  std::thread thread_;

  std::mutex mutex_;  // Guards the members below.
  std::condition_variable changed_;
  std::deque<Job*> waiting_;
  bool ending_ = false;
};

}  // namespace pintle::event
