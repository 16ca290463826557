// SPDX-License-Identifier: Apache-2.0
#pragma once

// The source of a machine without a cluster: the files in a directory are its configs.
//
// When the files change, they are rendered to one config again.  A goal that would change the machine is announced only
// when the machine may be changed: while it is not paused, inside of its maintenance windows, and while its gates are
// met.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/drift_watch.h"
#include "agent/local_gates.h"
#include "agent/local_rollout.h"
#include "agent/pace.h"
#include "agent/source.h"
#include "base/clock.h"
#include "base/root.h"
#include "event/loop.h"
#include "event/watches.h"
#include "event/worker.h"

namespace pintle::agent {

struct LocalSettings {
  std::string directory;
  std::string policy_file;  // Empty if there is none.
  // The file with the windows and the gates, which need not exist; empty if there is none.
  std::string rollout_file = {};
};

class LocalSource final : public Source {
 public:
  // The loop, the root and the clock must outlive the source.
  static Result<std::unique_ptr<LocalSource>> Create(event::Loop& loop, const Root& root, const Clock& clock,
                                                     LocalSettings settings);

  void Begin(Listener listener) override;
  void Fetch(const std::optional<Goal>& current, const Goal& wanted,
             std::function<void(Result<SurveyRequest> request)> done) override;
  void AskForDrain(const Goal& goal) override;
  void StopWaiting() override {}
  void ReportWork(const Prepared& change) override;
  void ReportChanging(const Prepared& change) override;
  void ReportChanged(const Prepared& change, bool needs_reboot) override;
  void ReportReboot(const std::string& why, std::function<void()> reported) override;
  void ReportSettled(const Goal& goal) override;
  void ReportFault(Fault fault, const std::string& text) override;

 private:
  // The outcome of reading and rendering the files.
  struct RenderedConfig {
    std::shared_ptr<const change::CurrentConfig> config;
    api::NodeDisruptionPolicy policy;
    std::optional<Goal> current;  // The goal that the machine had when the files were read.
    bool has_directory = false;   // If this is false, perhaps nobody has ever written a config.
    std::vector<std::string> warnings;
  };
  struct Snapshot {
    std::vector<std::string> link_targets;  // The targets of the links in the directory and of the other files.
    Result<RenderedConfig> rendered;
    Result<LocalRollout> rollout;
  };
  // Why the machine must not be changed now.
  struct Obstacle {
    std::string why;                // Empty if the machine may be changed.
    bool is_halt = false;           // A gate has halted the change, so a person has to act.
    std::optional<WallTime> again;  // When the obstacle may end, if that is known.
  };
  // A call of Fetch() that has no answer yet.  While the machine must not be changed, the call gets no answer.
  struct PendingFetch {
    Goal wanted;
    std::function<void(Result<SurveyRequest> request)> done;
  };

  LocalSource(event::Loop& loop, const Root& root, const Clock& clock, LocalSettings settings);

  static Snapshot ReadAll(const Root& root, const LocalSettings& settings);
  static std::vector<std::string> LinkTargets(const LocalSettings& settings);
  static Result<RenderedConfig> RenderAll(const Root& root, const LocalSettings& settings);

  void Watch(std::vector<std::string> files);
  void WatchDirectory();
  void RenderSoon();
  void PlanRendering();
  void Render();
  void Take(Snapshot snapshot);
  std::string WhyUnusable(const Result<RenderedConfig>& rendered) const;
  void Warn();
  void AnnounceGoal();
  void AnswerFetch();
  void ReportUnusable();
  bool IsPaused() const;
  Obstacle ObstacleTo(const Goal& goal);
  Obstacle ObstacleOfGates(const Goal& goal);
  bool IsNews(const Goal& goal) const;
  void Hold(const Goal& goal, const Obstacle& obstacle);
  void EndHold();
  void StopAskingGates();
  // `text` describes the change that waits, and why it waits.  The text is empty if no change waits.
  void ReportHeldChange(const std::string& text);
  SurveyRequest RequestFor(const Goal& wanted) const;

  event::Loop& loop_;
  const Root& root_;
  const Clock& clock_;
  const LocalSettings settings_;
  Listener listener_;
  std::optional<RenderedConfig> rendered_;
  // The rules of the latest reading, or why they cannot be used.  Other files that cannot be used do not matter here.
  Result<LocalRollout> rollout_;
  std::optional<Goal> announced_;  // The goal that the listener was last called with.
  Goal present_;                   // The goal that the machine has, as far as the source knows.
  std::optional<PendingFetch> pending_fetch_;
  std::optional<Goal> settled_;  // The goal that was last logged as settled.
  std::string why_unusable_;     // Why the files cannot be used.
  std::string why_halted_;       // Why a gate has halted the change that waits.
  std::string reported_why_unusable_;
  std::string held_change_;
  std::string unmet_gates_;     // The unmet gates that were logged last because their timeouts let a change begin.
  bool is_change_due_ = false;  // The agent was given a goal that changes the machine, and the change has not begun.
  std::vector<std::string> link_targets_;
  std::unique_ptr<DriftWatch> watch_;
  std::optional<event::InotifyWatch> directory_watch_;
  std::optional<Error> unwatched_;  // The reason why the directory is not watched.
  std::vector<std::string> warned_;
  std::optional<MonotonicTime> first_change_;  // The first change since the last rendering began.
  std::optional<MonotonicTime> last_change_;
  // The first change since the start of the last rendering whose result was used.
  std::optional<MonotonicTime> first_unrendered_change_;
  bool is_rendering_ = false;
  Pace pace_;
  std::chrono::seconds again_in_{0};  // The delay after which configs that cannot be used are read again.
  event::Timer render_;
  event::Timer announce_again_;  // Armed while a change waits for a window or a gate.
  LocalGates gates_;
  std::unique_ptr<event::Worker> worker_;  // Destroyed first: its destructor waits for its job.
};

}  // namespace pintle::agent
