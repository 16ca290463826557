// SPDX-License-Identifier: Apache-2.0
#pragma once

// The config with which the machine was not well after its reboot, so that nobody tries it again by himself.  Whoever
// undoes a change that awaits confirmation remembers it here, and the agent goes by it.

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "json/fields.h"

namespace pintle::change {

inline constexpr const char* kRejected = "/var/lib/pintle/rejected.json";

struct Rejected {
  std::string config;
  std::string image;  // The one that was built for it, if any.
  std::string why;

  static constexpr auto kFields = json::FieldList{
      json::Required{"config", &Rejected::config},
      json::Field{"image", &Rejected::image},
      json::Required{"why", &Rejected::why},
  };
};

Result<std::optional<Rejected>> ReadRejected(const Root& root);

// Nothing: every config may be tried.
Result<> KeepRejected(const Root& root, const std::optional<Rejected>& rejected);

}  // namespace pintle::change
