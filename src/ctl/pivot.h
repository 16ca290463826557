// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle pivot`: makes the next boot take another OS image, whatever the machine's config wants.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "change/drift.h"
#include "change/pivot.h"
#include "ctl/answer.h"
#include "ctl/carry_out.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "json/field_list.h"

namespace pintle::ctl {

inline constexpr std::array kPivotOptions = {
    Option{"--reboot", "", "reboot if something has changed"},
    Option{"--force", "", "continue in spite of findings, and stage an image again that is booted already"},
    kYesOption,
    kOutputOption,
};

struct PivotOrder {
  change::Pivot pivot;
  AndThen then = AndThen::kLeaveReboot;
  bool is_forced = false;     // True if the machine is not checked for drift.
  bool is_confirmed = false;  // True if nobody is asked for confirmation.
};

struct PivotAnswer {
  std::string outcome;
  std::string from;                           // The image that is booted.
  std::string to;                             // The image that the next boot takes.
  std::vector<std::string> kernel_arguments;  // The arguments that stay.
  std::vector<std::string> added_arguments;
  std::vector<std::string> removed_arguments;
  std::optional<change::VerifyReport> report;

  static constexpr auto kFields = json::FieldList{
      json::Required{"outcome", &PivotAnswer::outcome},
      json::Required{"from", &PivotAnswer::from},
      json::Required{"to", &PivotAnswer::to},
      json::Required{"keptKernelArguments", &PivotAnswer::kernel_arguments},
      json::Field{"addedKernelArguments", &PivotAnswer::added_arguments},
      json::Field{"removedKernelArguments", &PivotAnswer::removed_arguments},
      json::Field{"verify", &PivotAnswer::report},
  };
};

// Stages the image for the next boot, and reboots if the order has kReboot.
Result<PivotAnswer> CarryOutPivot(const Machine& machine, const CommandLine& line, const PivotOrder& order);

// Returns a text for people about what was changed and what comes next.
std::string PivotText(const PivotAnswer& answer);

}  // namespace pintle::ctl
