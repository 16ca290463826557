// SPDX-License-Identifier: Apache-2.0
#include "ignition/v3_1/translate.h"

#include <utility>

#include "ignition/translation.h"
#include "ignition/v3_0/translate.h"
#include "ignition/validation.h"

namespace pintle::ignition::v3_1 {
namespace {

constexpr Rules kRules = {
    .version = kVersion,
    .sha256 = true,
    .urls = {.google_storage = false, .arn = false},
    .format_none = false,
};

}  // namespace

void Validate(const Config& config, json::Report& report) { ValidateBy(kRules, config, report); }

Config ReadThisOrOlder(Reading& reading) {
  if (reading.minor == 1) return ReadAndValidate<Config>(reading, kRules);
  return FromPrevious(v3_0::ReadThisOrOlder(reading));
}

Config FromPrevious(v3_0::Config config) { return Translate<Config>(std::move(config), kVersion); }

}  // namespace pintle::ignition::v3_1
