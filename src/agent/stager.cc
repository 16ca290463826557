// SPDX-License-Identifier: Apache-2.0
#include "agent/stager.h"

#include <fmt/core.h>

#include <utility>

#include "agent/events.h"
#include "base/log.h"
#include "change/staged_image.h"

namespace pintle::agent {
namespace {

// Returns the goal whose image was fetched ahead.  A record that cannot be read is logged; the image then stays until a
// person removes it.
std::optional<Goal> FetchedGoal(const Root& root) {
  auto staged = change::ReadStagedImage(root);
  if (!staged) {
    log::Warning(staged.error().message(), kTrouble);
    return std::nullopt;
  }
  if (!*staged) return std::nullopt;
  return Goal{std::move((*staged)->config), std::move((*staged)->image)};
}

}  // namespace

Stager::Stager(event::Loop& loop, const Root& root, Images images, OpenMachine open_machine, Listener listener)
    : loop_(loop),
      root_(root),
      images_(images),
      open_machine_(std::move(open_machine)),
      listener_(std::move(listener)),
      retry_(loop, [this] { TryNow(); }) {
  staging_.fetched = FetchedGoal(root_);
  staging_.is_tidy = images_ == Images::kNone;
}

void Stager::Want(std::optional<Goal> goal) {
  if (staging_.is_wanted_known && staging_.wanted == goal) return;
  staging_.is_wanted_known = true;
  staging_.wanted = std::move(goal);
  staging_.outcome.reset();
  failures_ = 0;
  busy_ = 0;
  TryNow();
}

void Stager::Follow(const State& state) {
  const bool was_changing = std::holds_alternative<phase::Changing>(state_.phase);
  const bool has_changed = was_changing && !std::holds_alternative<phase::Changing>(state.phase);
  if (has_changed && images_ == Images::kInOstree) staging_.is_tidy = false;
  state_ = state;
  Update();
}

void Stager::TryNow() {
  retry_.Cancel();
  staging_.is_due = true;
  Update();
}

void Stager::WhenIdle(std::function<void()> then) {
  if (!is_busy()) return then();
  when_idle_ = std::move(then);
}

void Stager::Update() {
  if (!staging_.is_wanted_known) return;
  StagingDecision decision = DecideStaging(staging_, state_);
  if (reported_ != decision.report) {
    reported_ = decision.report;
    listener_.report(*reported_);
  }
  Do(decision.work);
}

void Stager::Do(StagingWork work) {
  switch (work) {
    case StagingWork::kNothing:
      return;
    case StagingWork::kStage:
      return Fetch(*staging_.wanted);
    case StagingWork::kStop:
      if (is_fetching_) {
        staging_.under_way.reset();
        is_fetching_ = false;
        return OnWorkEnded();
      }
      if (!std::exchange(is_stopping_, true)) worker_->Cancel();
      return;
    case StagingWork::kCleanUp:
    case StagingWork::kForget: {
      const bool removes = work == StagingWork::kCleanUp;
      staging_.is_cleaning_up = true;
      return Run([removes](const host::ThisMachine& machine,
                           const std::stop_token&) { return removes ? RemoveStaged(machine) : ForgetStaged(machine); },
                 [this](const Result<StagingEnd>& ended) { EndCleanUp(ended); });
    }
    case StagingWork::kTidy:
      staging_.is_cleaning_up = true;
      return Run([](const host::ThisMachine& machine, const std::stop_token&) { return RemoveUnneeded(machine); },
                 [this](const Result<StagingEnd>& ended) { EndTidying(ended); });
  }
}

void Stager::Fetch(const Goal& goal) {
  if (busy_ == 0) log::Info(fmt::format("staging {}, for a later change", TargetText(goal)));
  staging_.under_way = goal;
  is_fetching_ = true;
  listener_.fetch(goal, [this, goal, number = ++fetches_, weak = std::weak_ptr(alive_)](Result<SurveyRequest> request) {
    if (weak.expired() || number != fetches_ || !is_fetching_) return;
    is_fetching_ = false;
    if (!request) return EndAttempt(goal, request.error());
    Run(
        [goal, request = *std::move(request)](const host::ThisMachine& machine, const std::stop_token& stop) {
          return StageAhead(machine, request, goal, stop);
        },
        [this, goal](const Result<StagingEnd>& ended) { EndAttempt(goal, ended); });
  });
}

void Stager::Run(const Job& job, std::function<void(Result<StagingEnd> ended)> done) {
  if (worker_ == nullptr) {
    auto worker = event::Worker::Create(loop_);
    if (!worker) return done(worker.error());
    worker_ = *std::move(worker);
  }
  worker_->Run<Result<StagingEnd>>(
      [open = open_machine_, job](const std::stop_token& stop) -> Result<StagingEnd> {
        const auto machine = TRY(open());
        return job(*machine, stop);
      },
      std::move(done));
}

void Stager::EndAttempt(const Goal& goal, const Result<StagingEnd>& ended) {
  staging_.under_way.reset();
  // The job may have fetched an image even if it has failed or was stopped.
  staging_.fetched = FetchedGoal(root_);
  if (std::exchange(is_stopping_, false)) return OnWorkEnded();
  if (ended && *ended == StagingEnd::kBusy) {
    PauseWhileBusy();
  } else if (ended) {
    log::Info(fmt::format("staged {}", TargetText(goal)));
    failures_ = 0;
    busy_ = 0;
    staging_.outcome = {goal, ""};
  } else {
    staging_.outcome = {goal, fmt::format("{} (the agent tries again by itself; `pintle retry` on the node makes it "
                                          "try at once)",
                                          ended.error().message())};
    PauseAfterFailure();
  }
  OnWorkEnded();
}

void Stager::EndCleanUp(const Result<StagingEnd>& ended) {
  staging_.is_cleaning_up = false;
  staging_.fetched = FetchedGoal(root_);
  // An earlier clean-up may have failed; its outcome is outdated now.
  staging_.outcome.reset();
  if (ended && *ended == StagingEnd::kBusy) {
    PauseWhileBusy();
  } else if (!ended) {
    const std::string why =
        fmt::format("removing an image that was fetched for an earlier target: {}", ended.error().message());
    log::Warning(why, kTrouble);
    if (staging_.wanted) staging_.outcome = {*staging_.wanted, why};
    PauseAfterFailure();
  } else {
    busy_ = 0;
  }
  OnWorkEnded();
}

void Stager::EndTidying(const Result<StagingEnd>& ended) {
  staging_.is_cleaning_up = false;
  worker_.reset();  // Most machines never stage anything, so the thread is not kept for that.
  if (ended && *ended == StagingEnd::kBusy) {
    PauseWhileBusy();
  } else {
    busy_ = 0;
    // After a failure, the images stay until the next change or the next start of the agent.
    staging_.is_tidy = true;
    if (!ended) {
      log::Warning(fmt::format("removing images of earlier updates: {}", ended.error().message()), kTrouble);
    }
  }
  OnWorkEnded();
}

void Stager::PauseAfterFailure() {
  busy_ = 0;
  Pause(StagingPause(++failures_));
}

void Stager::PauseWhileBusy() { Pause(BusyPause(++busy_)); }

void Stager::Pause(std::chrono::seconds time) {
  staging_.is_due = false;
  retry_.After(time);
}

void Stager::OnWorkEnded() {
  if (const auto then = std::exchange(when_idle_, nullptr)) then();
  Update();
}

}  // namespace pintle::agent
