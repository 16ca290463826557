// SPDX-License-Identifier: Apache-2.0
#include "ignition/v3_2/translate.h"

#include <utility>

#include "ignition/losses.h"
#include "ignition/translation.h"
#include "ignition/v3_1/translate.h"
#include "ignition/validation.h"

namespace pintle::ignition::v3_2 {
namespace {

constexpr Rules kRules = {
    .version = kVersion,
    .sha256 = true,
    .urls = {.google_storage = true, .arn = false},
    .format_none = false,
};

}  // namespace

void Validate(const Config& config, json::Report& report) { ValidateBy(kRules, config, report); }

Config ReadThisOrOlder(Reading& reading) {
  if (reading.minor == 2) return ReadAndValidate<Config>(reading, kRules);
  return FromPrevious(v3_1::ReadThisOrOlder(reading));
}

Config FromPrevious(v3_1::Config config) { return Translate<Config>(std::move(config), kVersion); }

namespace {

// Refuses the fields of 3.2 that a translation to 3.1 would drop.  CheckTranslated() refuses other values.
Result<> RefuseLosses(const Config& config) {
  const json::Path root;
  const json::Path storage(root, "storage");
  const json::Path passwd(root, "passwd");
  if (!config.storage.luks.empty()) return CannotTranslate("LUKS is not supported on 3.1", json::Path(storage, "luks"));
  const auto refuse_absent = [&](const auto& list, const char* field, const char* message) -> Result<> {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].should_exist.value_or(true)) continue;
      return CannotTranslate(message, json::Path(json::Path(json::Path(passwd, field), i), "shouldExist"));
    }
    return {};
  };
  TRY(refuse_absent(config.passwd.users, "users", "ShouldExist in Passwd.Users is not supported on 3.1"));
  TRY(refuse_absent(config.passwd.groups, "groups", "ShouldExist in Passwd.Groups is not supported on 3.1"));
  const json::Path disks(storage, "disks");
  for (std::size_t i = 0; i < config.storage.disks.size(); ++i) {
    const auto& partitions = config.storage.disks[i].partitions;
    for (std::size_t j = 0; j < partitions.size(); ++j) {
      if (!partitions[j].resize.value_or(false)) continue;
      const json::Path disk(disks, i);
      const json::Path list(disk, "partitions");
      return CannotTranslate("Resize in Storage.Disks.Partitions is not supported on 3.1",
                             json::Path(json::Path(list, j), "resize"));
    }
  }
  return {};
}

}  // namespace

Result<v3_1::Config> ToPrevious(Config config) {
  TRY(RefuseLosses(config));
  auto previous = Translate<v3_1::Config>(std::move(config), v3_1::kVersion);
  TRY(CheckTranslated(previous, v3_1::Validate));
  return previous;
}

}  // namespace pintle::ignition::v3_2
