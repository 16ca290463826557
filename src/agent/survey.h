// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the second part of a look: decides whether the machine is as its config wants it, and plans the change to
// another config.
//
// SurveyOf() is a pure function.  Its first argument has everything that was read, and the agent carries out the
// result.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/observation.h"
#include "agent/state.h"
#include "api/machine_configuration.h"
#include "base/clock.h"
#include "base/result.h"
#include "change/current_config.h"
#include "change/losses.h"
#include "plan/plan.h"

namespace pintle::agent {

// The inputs of a change.
struct Prepared {
  change::CurrentConfig from;
  change::CurrentConfig to;
  plan::Plan plan;
  bool is_forced = false;          // A person wants the change in spite of the findings.
  change::Things left_alone = {};  // The change does not touch these.
};

// The result of a look.  While the journal has a change, only the outlook is filled in.
struct Survey {
  Outlook outlook = {};
  std::optional<Goal> current = {};            // The goal that the machine has; nullopt if its config is only assumed.
  std::size_t findings = 0;                    // The number of findings that count.
  std::string findings_text = {};              // All findings as JSON, including those that do not count.
  std::vector<std::string> warnings = {};      // A warning for each thing that is ignored.
  std::optional<WallTime> ignoring_ends = {};  // The first time at which something is not ignored any more.
  std::string left_aside = {};                 // The parts of the config that this machine leaves aside, in words.
  std::vector<std::string> paths = {};         // The paths that the machine's config manages.
  std::shared_ptr<Prepared> prepared = {};     // Null if there is nothing to change, or if the change cannot be made.

  // The policy that was used for planning.  It has to be stored, for commands that change the machine without asking
  // the cluster.
  std::optional<api::NodeDisruptionPolicy> policy = {};
  // The reason why no change can be planned.  If it is set, the look has failed, and only the policy is used.
  std::optional<Error> failure = {};
};

// Returns the result of a look that has read these facts.  `goal` is the goal that the machine is to have.
Survey SurveyOf(Observation seen, const Goal& goal, WallTime now);

}  // namespace pintle::agent
