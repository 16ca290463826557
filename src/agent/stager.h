// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stages the goal that the source names for later, and removes images that are not needed any more: carries out what
// DecideStaging() returns.
//
// It has a worker of its own, so that the agent's own work never waits for an image that is fetched.  Each job opens
// the machine anew.  Between two jobs, the worker exists only on machines that have staged something.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/stage_ahead.h"
#include "agent/staging.h"
#include "agent/state.h"
#include "agent/survey.h"
#include "base/result.h"
#include "base/root.h"
#include "event/loop.h"
#include "event/watches.h"
#include "event/worker.h"
#include "host/this_machine.h"

namespace pintle::agent {

class Stager {
 public:
  using OpenMachine = std::function<Result<std::unique_ptr<host::ThisMachine>>()>;
  struct Listener {
    // Collects the inputs of the survey of a change to this goal.
    std::function<void(const Goal& goal, std::function<void(Result<SurveyRequest> request)> done)> fetch;
    std::function<void(const StagingReport& report)> report;
  };

  // kNone is for a machine that does not run from OSTree.
  enum class Images { kNone, kInOstree };

  // The loop and the root must outlive the stager.  `open_machine` is called on the worker's thread.
  Stager(event::Loop& loop, const Root& root, Images images, OpenMachine open_machine, Listener listener);
  Stager(const Stager&) = delete;
  Stager& operator=(const Stager&) = delete;

  // Sets the goal to stage.  Nullopt means that there is nothing to stage.
  void Want(std::optional<Goal> goal);
  // Takes over the state of the agent after a transition.
  void Follow(const State& state);
  // Ends the pause after a failure, because a person asks for another try.
  void TryNow();
  // Calls `then` as soon as nothing is being staged, which may be at once.  A change must not begin before that.
  void WhenIdle(std::function<void()> then);

 private:
  struct Alive {};
  using Job = std::function<Result<StagingEnd>(const host::ThisMachine& machine, const std::stop_token& stop)>;

  bool is_busy() const { return staging_.under_way || staging_.is_cleaning_up; }
  void Update();
  void Do(StagingWork work);
  void Fetch(const Goal& goal);
  void Run(const Job& job, std::function<void(Result<StagingEnd> ended)> done);
  void EndAttempt(const Goal& goal, const Result<StagingEnd>& ended);
  void EndCleanUp(const Result<StagingEnd>& ended);
  void EndTidying(const Result<StagingEnd>& ended);
  void PauseAfterFailure();
  void PauseWhileBusy();
  void Pause(std::chrono::seconds time);
  // Makes the call that WhenIdle() has put off, and decides again.
  void OnWorkEnded();

  event::Loop& loop_;
  const Root& root_;
  const Images images_;
  const OpenMachine open_machine_;
  const Listener listener_;
  Staging staging_;
  State state_;
  int failures_ = 0;          // The number of failures in a row.
  int busy_ = 0;              // The number of attempts in a row for which someone else held the claim.
  int fetches_ = 0;           // The number of fetches so far.  Only the answer to the last one is used.
  bool is_fetching_ = false;  // The attempt that is under way waits for the source.
  bool is_stopping_ = false;  // The worker was asked to stop.
  std::optional<StagingReport> reported_;
  std::function<void()> when_idle_;
  event::Timer retry_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();  // After this has expired, answers are dropped.
  std::unique_ptr<event::Worker> worker_;                     // Destroyed first: its destructor waits for its job.
};

}  // namespace pintle::agent
