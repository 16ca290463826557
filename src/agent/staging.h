// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what the agent stages ahead of a change: a goal that the machine is to have later.
//
// A goal is staged if the machine could make the change at any time: the change is planned, its image is in the store,
// and the disk has room for its files.  Nothing that is in use changes, and no boot uses the image.  The agent stages
// only while the machine has its goal, so that staging never delays a change.  An image whose goal is not wanted any
// more is removed while the machine has its goal.  It is also removed during a drain and while the machine is degraded,
// because a change may need its space.
//
// DecideStaging() is a pure function.  The stager carries out what it returns, and calls it again after each event.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/state.h"
#include "agent/survey.h"
#include "base/result.h"

namespace pintle::agent {

// The outcome of the last attempt to stage a goal.
struct StagingOutcome {
  Goal goal;
  std::string why_not;  // Empty if the goal is staged.
};

// The facts on which DecideStaging() decides, beside the state of the agent.
struct Staging {
  bool is_wanted_known = false;        // The source has reported what it wants, even if it wants nothing.
  std::optional<Goal> wanted = {};     // The goal that the source wants to be staged.
  std::optional<Goal> fetched = {};    // The goal for which an image may have been fetched, as recorded on the disk.
  std::optional<Goal> under_way = {};  // The goal that is being staged.
  bool is_cleaning_up = false;         // Images are being removed.
  bool is_tidy = false;                // The images of earlier changes were removed since the last change.
  std::optional<StagingOutcome> outcome = {};
  bool is_due = true;  // No pause after a failure is under way.
};

enum class StagingWork {
  kNothing,
  kStage,    // Stage the wanted goal.
  kStop,     // Stop the attempt that is under way.
  kCleanUp,  // Remove the image of the goal `fetched`, and the record of it.
  kForget,   // Remove only the record, since the machine has this goal by now.
  kTidy,     // Remove the images of earlier changes that no deployment has any more.
};

// The report to the source.
struct StagingReport {
  enum class How { kNothing, kUnderWay, kStaged, kUnstageable } how = How::kNothing;
  Goal goal = {};        // Unset if there is nothing to stage.
  std::string why = {};  // The reason why the goal cannot be staged.

  bool operator==(const StagingReport&) const = default;
};

struct StagingDecision {
  StagingWork work = StagingWork::kNothing;
  StagingReport report;
};

// Returns the work that has to be done now, if any, and the report about the wanted goal.
StagingDecision DecideStaging(const Staging& staging, const State& state);

// Returns the pause after this many failures in a row.
std::chrono::seconds StagingPause(int failures);

// Returns the pause after someone else has held the claim at this many attempts in a row.  Each attempt reads the
// config from the source again, so a command that holds the claim for long must not cause an attempt each second.
std::chrono::seconds BusyPause(int attempts);

// Returns the change that the survey has planned, or null if there is nothing to do.  Returns an error if the machine
// could not make the change now.
Result<std::shared_ptr<const Prepared>> ChangeToStage(Survey survey);

// Convert a goal to the text by which the controller names a target, and back: the name of the config and, after a
// space, the image that was built for it.
std::string TargetText(const Goal& goal);
Goal GoalFromTarget(std::string_view text);

}  // namespace pintle::agent
