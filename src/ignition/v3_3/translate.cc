// SPDX-License-Identifier: Apache-2.0
#include "ignition/v3_3/translate.h"

#include <utility>

#include "ignition/losses.h"
#include "ignition/translation.h"
#include "ignition/v3_2/translate.h"
#include "ignition/validation.h"

namespace pintle::ignition::v3_3 {
namespace {

constexpr Rules kRules = {
    .version = kVersion,
    .sha256 = true,
    .urls = {.google_storage = true, .arn = false},
    .format_none = true,
};

}  // namespace

void Validate(const Config& config, json::Report& report) { ValidateBy(kRules, config, report); }

Config ReadThisOrOlder(Reading& reading) {
  if (reading.minor == 3) return ReadAndValidate<Config>(reading, kRules);
  return FromPrevious(v3_2::ReadThisOrOlder(reading));
}

Config FromPrevious(v3_2::Config config) { return Translate<Config>(std::move(config), kVersion); }

Result<v3_2::Config> ToPrevious(Config config) {
  const KernelArguments& arguments = config.kernel_arguments;
  if (!arguments.should_exist.empty() || !arguments.should_not_exist.empty()) {
    return CannotTranslate("KernelArguments is not supported on 3.2", json::Path(json::Path(), "kernelArguments"));
  }
  auto previous = Translate<v3_2::Config>(std::move(config), v3_2::kVersion);
  TRY(CheckTranslated(previous, v3_2::Validate));
  return previous;
}

}  // namespace pintle::ignition::v3_3
