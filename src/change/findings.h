// SPDX-License-Identifier: Apache-2.0
#pragma once

// What on a machine is not as its config says.
//
// All differences are told at once, since whoever mends them wants to know them all; where the Machine Config Operator
// has words for one, these are its words.

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "json/fields.h"
#include "plan/plan.h"

namespace pintle::change {

struct Finding {
  std::string about;  // A path, a unit, a user.
  std::string text;   // 'content mismatch for file "/etc/motd"'

  static constexpr auto kFields = std::tuple{
      json::Required{"about", &Finding::about},
      json::Required{"text", &Finding::text},
  };
};

// In the order of the config.
Result<std::vector<Finding>> FindingsOn(const host::Host& host, const plan::ParsedConfig& config);

// The same for steps that were put.  What is to be absent is not looked for.
Result<std::vector<Finding>> FindingsIn(const host::Host& host, std::span<const plan::Step> steps);

// All of them as one text: "unexpected on-disk state validating against rendered-worker-1: ...; ...".
std::string TextOf(const std::vector<Finding>& findings, std::string_view config);

}  // namespace pintle::change
