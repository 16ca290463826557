// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle diff`: prints the differences between two configs, and what a node would have to do.

#include <array>
#include <optional>
#include <string>

#include "api/machine_config.h"
#include "api/machine_configuration.h"
#include "base/result.h"
#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/live_cluster.h"
#include "ctl/private_option.h"
#include "json/parse.h"

namespace pintle::ctl {

inline constexpr std::array kDiffOptions = {
    Option{"--policy", "FILE", "the NodeDisruptionPolicy, or the MachineConfiguration that has it"},
    Option{"--overrides", "FILE",
           "sections that may change although only new machines get the change: {\"storage\": [...]}"},
    kKubeconfigOption,
    kContextOption,
    Option{"--with", "FILE",
           "compare with what POOL would get if this were applied: a KubeletConfig, a MachineConfig, mirrors ..."},
    kShowPrivateOption,
    kOutputOption,
};

struct DiffQuestion {
  std::string old_file;
  std::string new_file;
  std::optional<std::string> policy_file;
  std::optional<std::string> overrides_file;
  change::PrivateLines private_lines = change::PrivateLines::kLeftOut;
};

struct DiffPreview {
  json::Value answer;  // The answer that `-o json` prints.
  std::string text;    // The same answer as a text for people.
  bool differs = false;
  std::optional<Error> error;  // Set if the Ignition part of one of the configs cannot be parsed.
};

// Returns the answer for two files.
Result<DiffPreview> PreviewDiff(const DiffQuestion& question);

// Returns the answer for two configs.
DiffPreview DiffBetween(const api::MachineConfig& from, const api::MachineConfig& to,
                        const api::NodeDisruptionPolicy& policy,
                        const api::IrreconcilableValidationOverrides& overrides,
                        change::PrivateLines private_lines = change::PrivateLines::kLeftOut);

}  // namespace pintle::ctl
