// SPDX-License-Identifier: Apache-2.0
#include "ignition/v3_0/translate.h"

#include <utility>

#include "ignition/translation.h"
#include "ignition/validation.h"

namespace pintle::ignition::v3_0 {
namespace {

constexpr Rules kRules = {
    .version = kVersion,
    .sha256 = false,
    .urls = {.google_storage = false, .arn = false},
    .format_none = false,
};

}  // namespace

void Validate(const Config& config, json::Report& report) { ValidateBy(kRules, config, report); }

Config ReadThisOrOlder(Reading& reading) { return ReadAndValidate<Config>(reading, kRules); }

}  // namespace pintle::ignition::v3_0
