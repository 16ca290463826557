// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agent's worker, which runs jobs that use the machine, one at a time.
//
// A job that may change the machine, or must not see it in the middle of a change, holds the claim to the machine.
// While another program holds the claim, such a job waits, and the attempt to take the claim is repeated.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/result.h"
#include "change/claim.h"
#include "event/loop.h"
#include "event/watches.h"
#include "event/worker.h"
#include "host/this_machine.h"

namespace pintle::agent {

class ClaimedWorker {
 public:
  // An attempt to take the claim is repeated after this time.
  static constexpr auto kRetry = std::chrono::milliseconds(250);

  static Result<std::unique_ptr<ClaimedWorker>> Create(event::Loop& loop,
                                                       std::shared_ptr<const host::ThisMachine> machine) {
    std::unique_ptr<ClaimedWorker> worker(new ClaimedWorker(loop, std::move(machine)));
    worker->worker_ = TRY(event::Worker::Create(loop));
    return worker;
  }
  ClaimedWorker(const ClaimedWorker&) = delete;
  ClaimedWorker& operator=(const ClaimedWorker&) = delete;

  // Runs `job` on the worker's thread with the claim held, and then `done` on the loop's thread.  If an earlier job
  // waits for the claim at this moment, that job is dropped, and its `done` is not called.
  template <typename T>
  void RunWithClaim(std::function<Result<T>(const host::ThisMachine& machine)> job,
                    std::function<void(Result<T>)> done) {
    retry_.Cancel();
    using Outcome = std::optional<Result<T>>;  // Nullopt means that someone else holds the claim at the moment.
    worker_->Run<Outcome>(
        [machine = machine_, job](std::stop_token) -> Outcome {
          const auto claim = change::Claim::Take(machine->root());
          if (claim) return job(*machine);
          if (claim.error().kind() == ErrorKind::kConflict) return std::nullopt;
          return claim.error();
        },
        [this, job, done](Outcome outcome) {
          if (outcome) return done(*std::move(outcome));
          waiting_ = [this, job, done] { RunWithClaim<T>(job, done); };
          retry_.After(kRetry);
        });
  }

  // Runs `job` on the worker's thread without the claim, and then `done` on the loop's thread.
  template <typename T>
  void Run(std::function<T(const host::ThisMachine& machine, const std::stop_token& stop)> job,
           std::function<void(T)> done) {
    worker_->Run<T>([machine = machine_, job](const std::stop_token& stop) { return job(*machine, stop); },
                    std::move(done));
  }

  // Returns whether a job waits for the claim and has not begun.
  bool waits_for_claim() const { return retry_.armed(); }

 private:
  ClaimedWorker(event::Loop& loop, std::shared_ptr<const host::ThisMachine> machine)
      : machine_(std::move(machine)), retry_(loop, [this] { std::exchange(waiting_, nullptr)(); }) {}

  const std::shared_ptr<const host::ThisMachine> machine_;
  std::function<void()> waiting_;  // Runs the job that waits for the claim.
  event::Timer retry_;
  std::unique_ptr<event::Worker> worker_;  // Destroyed first: its destructor waits for its job.
};

}  // namespace pintle::agent
