// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores the name of the config with which the machine was not healthy after its reboot, so that the agent does not try
// this config again by itself.  When a change that awaits confirmation is undone, the program that undoes it writes
// this file.  The agent reads the file, and removes it when a person asks for another try.

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "change/format.h"
#include "json/field_list.h"

namespace pintle::change {

inline constexpr const char* kRejected = format::kRejected.path;

struct Rejected {
  std::string config;
  std::string image;  // The image that was built for the config; empty if there is none.
  std::string why;

  static constexpr auto kFields = json::FieldList{
      json::Required{"config", &Rejected::config},
      json::Field{"image", &Rejected::image},
      json::Required{"why", &Rejected::why},
  };
};

// Returns nullopt if no config is rejected.
Result<std::optional<Rejected>> ReadRejected(const Root& root);

// Stores the rejection.  Nullopt removes the file, so that every config may be tried.
Result<> KeepRejected(const Root& root, const std::optional<Rejected>& rejected);

}  // namespace pintle::change
