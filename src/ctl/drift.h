// SPDX-License-Identifier: Apache-2.0
#pragma once

// What on a machine is not as its config says, with all that a person needs to choose between mending and keeping it.

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "change/current_config.h"
#include "change/findings.h"
#include "ctl/machine.h"
#include "json/fields.h"

namespace pintle::ctl {

struct Drift {
  std::string about;                    // A path, a unit, a user.
  std::vector<std::string> problems;    // In the words of the Machine Config Operator.
  std::vector<std::string> details;     // What there is to say beyond them, with secrets masked.
  std::vector<std::string> written_by;  // The configs that say what it should be; none: that is not known.
  std::string difference;               // From what the config says to what is there, with secrets masked.
  std::vector<std::string> remedies;    // Commands.

  static constexpr auto kFields = std::tuple{
      json::Required{"about", &Drift::about},        json::Required{"problems", &Drift::problems},
      json::Field{"details", &Drift::details},       json::Required{"writtenBy", &Drift::written_by},
      json::Field{"difference", &Drift::difference}, json::Required{"remedies", &Drift::remedies},
  };
};

struct Drifts {
  std::string config;
  std::string text;  // All findings in one line; empty: everything is as it should be.
  std::vector<Drift> all;

  static constexpr auto kFields = std::tuple{
      json::Required{"config", &Drifts::config},
      json::Required{"text", &Drifts::text},
      json::Required{"findings", &Drifts::all},
  };
};

// Files that have not been touched since they were last looked at in this boot are not read again.
Result<Drifts> FindDrifts(const Machine& machine, const change::CurrentConfig& config);

// The same for findings that are known.
Result<Drifts> DriftsOf(const Machine& machine, const change::CurrentConfig& config,
                        std::vector<change::Finding> findings);

// For people.
std::string DriftsText(const Drifts& drifts);

// What a line says that names who wrote something; nothing if that is not known.
std::string WritersText(const std::vector<std::string>& names);

}  // namespace pintle::ctl
