// SPDX-License-Identifier: Apache-2.0
#pragma once

// A look at the machine, for the worker's thread: is it as the config says that it has, and what would it take to get
// to another?

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

// A config that a source has handed out, still as text or as files, so that reading it is the worker's work.
struct Target {
  Goal goal;
  std::function<Result<change::CurrentConfig>()> read;  // To be called once.
};

struct SurveyRequest {
  // What the machine is said to have, for one whose disk does not tell.
  std::optional<Target> assumed = {};
  // What it is to have; nothing: what it has.
  std::optional<Target> wanted = {};
  api::NodeDisruptionPolicy policy = {};
  api::IrreconcilableValidationOverrides overrides = {};
  // Files that a change leaves as they are, since the source itself writes them.
  change::Things looked_after = {};
};

// All that a change takes.
struct Prepared {
  change::CurrentConfig from;
  change::CurrentConfig to;
  plan::Plan plan;
  bool is_forced = false;  // Someone wants it in spite of what was found.
  change::Things left_alone = {};
};

// While the journal has a change, there is no more than an outlook that says so.
struct Survey {
  Goal current;
  bool is_assumed = false;  // The disk does not tell that it is this.
  Outlook outlook;
  std::size_t findings = 0;            // Those that count.
  std::string findings_text;           // All there is to say of them and the others, as JSON.
  change::Ignored ignored = {};        // Findings about these do not count.
  std::string left_aside;              // What of that config this machine cannot have, in words.
  std::vector<std::string> paths;      // Where the config that it has says something.
  std::shared_ptr<Prepared> prepared;  // Null: there is nothing to do, or it cannot be done.
};

// Someone who makes this file wants the machine changed, and rebooted, in spite of what is found.
inline constexpr const char* kForceFile = "/run/machine-config-daemon-force";

Result<Survey> LookAt(const host::Host& host, const SurveyRequest& request);

// Shows it, and logs it if that is news.
void TellLeftAside(const std::string& what, host::AgentStatus& status);

// The config that the machine has, by what is on its disk; nothing: none.
Result<std::optional<Goal>> CurrentGoal(const Root& root);

// The image that goes with a config is part of it.
Goal GoalOf(const change::CurrentConfig& config);

}  // namespace pintle::agent
