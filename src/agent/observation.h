// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the first part of a look: reads everything that the survey needs for its decision, on the worker's thread.
//
// Observe() changes nothing, neither on the machine nor outside of it.  It returns one value.  So the survey needs
// neither the machine nor the source, and a test can describe a machine by such a value.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/state.h"
#include "api/machine_config.h"
#include "api/machine_configuration.h"
#include "base/result.h"
#include "change/abilities.h"
#include "change/apply.h"
#include "change/current_config.h"
#include "change/drift.h"
#include "change/findings.h"
#include "change/ignored.h"
#include "change/losses.h"
#include "host/host.h"

namespace pintle::agent {

// A config that a source has provided.  It is still text or files, so that the worker does the parsing.
struct ProvidedConfig {
  Goal goal;
  std::function<Result<change::CurrentConfig>()> read;  // May be called only once.
};

// The facts that a source has for a look.
struct SurveyRequest {
  // The config that the machine has according to the source.  It is used if the machine's disk has no config.
  std::optional<ProvidedConfig> assumed = {};
  // The config that the machine is to have; nullopt means the config that it has.
  std::optional<ProvidedConfig> wanted = {};
  api::NodeDisruptionPolicy policy = {};
  api::IrreconcilableValidationOverrides overrides = {};
  // Files that a change leaves as they are, since the source itself writes them.
  change::Things written_by_source = {};
};

// The facts of the machine and of the source.  While the journal has a change, the other facts of the machine are not
// read, because the machine may be in the middle of that change.
struct Observation {
  // These come from the source.
  bool names_goal = false;  // The source has provided the wanted config, and with it the policy that is in force.
  api::NodeDisruptionPolicy policy = {};
  api::IrreconcilableValidationOverrides overrides = {};
  change::Things written_by_source = {};

  // This comes from the journal.
  change::Pending pending = change::Pending::kNone;

  // These describe the machine and its config.
  change::CurrentConfig current;  // The config on the disk, or else the one that the machine is assumed to have.
  bool is_on_disk = false;        // The config is on the disk.
  bool is_assumed = false;        // The config is only assumed.
  bool is_new = false;            // The machine is new to its cluster.
  bool is_forced = false;         // kForceFile is there.
  change::OsAbilities abilities = {};
  std::vector<change::Finding> findings = {};
  std::optional<host::SeenFiles> seen_files = {};  // The files that were read for the findings.
  change::VerifyReport report = {};                // The findings with all details; none is marked as ignored.
  change::Ignored ignored = {};                    // Includes entries that have ended.
  // The current config, changed so that it describes the booted deployment; set if IsNewWithAnotherOs().
  std::optional<api::MachineConfig> as_booted = {};

  // These describe the change that the source wants, if it wants one.
  std::optional<change::CurrentConfig> to = {};  // The wanted config; nullopt if it is the current one.
  // The findings on things that the change would overwrite.  They are not read if the change is forced.
  std::vector<change::Finding> losses = {};
  // Users on whom both configs agree, and whose keys cannot be read.
  change::Things out_of_reach = {};

  // Returns whether this is a new machine that differs from its first config in the OS only, and no change is forced.
  // The machine may have been installed with another version of the OS.
  bool IsNewWithAnotherOs() const;
};

// A person makes this file to have the machine changed and rebooted in spite of findings.
inline constexpr const char* kForceFile = "/run/machine-config-daemon-force";

// Reads the facts.  While the journal has a change, `pending` is the only fact that is read from the machine.
Result<Observation> Observe(const host::Host& host, const SurveyRequest& request);

// Returns the goal that the machine has according to its disk.  Returns nullopt if it has no config, or if it is new to
// its cluster and its config has no files, units and users, because then only the cluster has the whole config.
Result<std::optional<Goal>> CurrentGoal(const Root& root);

// Returns the goal that a machine with this config has, with the image that was built for the config.
Goal GoalOf(const change::CurrentConfig& config);

}  // namespace pintle::agent
