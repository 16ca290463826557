// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thing on a machine as a person names it: a path, a unit, a user, or "os" for the image and its kernel arguments.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "api/machine_configuration.h"
#include "ignition/config.h"
#include "plan/plan.h"
#include "plan/step.h"

namespace pintle::ctl {

enum class ThingKind { kPath, kUnit, kUser, kOs };

class NamedThing {
 public:
  explicit NamedThing(std::string name);

  const std::string& name() const { return name_; }
  ThingKind kind() const { return kind_; }

  // Returns whether a step is about the thing.  A unit includes its files and drop-ins.
  bool Covers(const plan::Step& step) const;

  // Returns the config without the thing.  The plan from that config to the whole one has the actions that a change of
  // the thing needs.
  ignition::Config Without(ignition::Config config) const;

 private:
  bool CoversPath(std::string_view path) const;

  std::string name_;
  ThingKind kind_;
};

// Returns the things that these words of a command line name.
std::vector<NamedThing> ThingsIn(const std::vector<std::string>& words);

// Returns whether a step is about one of the things.
bool AnyCovers(std::span<const NamedThing> things, const plan::Step& step);

// The plan for a change of these things and nothing else.
struct PlanForThings {
  // The config without the things, from which the plan starts, as an object and as Ignition.  The plan refers to both.
  std::unique_ptr<const api::MachineConfig> object;
  std::unique_ptr<const ignition::Config> without;
  plan::Plan plan;
};

// The config must outlive the result.
PlanForThings MakePlanForThings(std::span<const NamedThing> things, const plan::ParsedConfig& config,
                                const api::NodeDisruptionPolicy& policy);

}  // namespace pintle::ctl
