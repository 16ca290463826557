// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a look at the machine, on the worker's thread: whether the machine is as its config wants it, and which changes
// would give it another config.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/state.h"
#include "api/machine_configuration.h"
#include "base/clock.h"
#include "base/result.h"
#include "change/current_config.h"
#include "change/drift.h"
#include "change/losses.h"
#include "host/agent_dbus.h"
#include "host/host.h"
#include "plan/plan.h"

namespace pintle::agent {

// A config that a source has provided.  It is still text or files, so that the worker does the parsing.
struct Target {
  Goal goal;
  std::function<Result<change::CurrentConfig>()> read;  // May be called once.
};

struct SurveyRequest {
  // The config that the source believes the machine to have; set if the machine's disk has none.
  std::optional<Target> assumed = {};
  // The config that the machine is to have; nullopt means the one that it has now.
  std::optional<Target> wanted = {};
  api::NodeDisruptionPolicy policy = {};
  api::IrreconcilableValidationOverrides overrides = {};
  // Files that a change leaves as they are, since the source itself writes them.
  change::Things looked_after = {};
};

// The inputs of a change.
struct Prepared {
  change::CurrentConfig from;
  change::CurrentConfig to;
  plan::Plan plan;
  bool is_forced = false;  // A person wants the change in spite of the findings.
  change::Things left_alone = {};
};

// The result of a look.  While the journal has a change, only the outlook is filled in.
struct Survey {
  Goal current;
  bool is_assumed = false;  // The disk does not confirm that the machine has this config.
  Outlook outlook;
  std::size_t findings = 0;            // The number of findings that count.
  std::string findings_text;           // All findings, also those that do not count, as JSON.
  change::Ignored ignored = {};        // Findings about these things do not count.
  std::string left_aside;              // The parts of the config that this machine cannot have, in words.
  std::vector<std::string> paths;      // The paths that the machine's config manages.
  std::shared_ptr<Prepared> prepared;  // Null if there is nothing to do, or if it cannot be done.
};

// Whoever makes this file wants the machine changed, and rebooted, in spite of the findings.
inline constexpr const char* kForceFile = "/run/machine-config-daemon-force";

Result<Survey> LookAt(const host::Host& host, const SurveyRequest& request);

// Sets the status to `what`, and logs that text if it is new.
void TellLeftAside(const std::string& what, host::AgentStatus& status);

// Returns the goal that the machine has according to its disk, or nullopt if it has no config.
Result<std::optional<Goal>> CurrentGoal(const Root& root);

// The goal includes the image that was built for the config.
Goal GoalOf(const change::CurrentConfig& config);

}  // namespace pintle::agent
