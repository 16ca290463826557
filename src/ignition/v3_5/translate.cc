// SPDX-License-Identifier: Apache-2.0
#include "ignition/v3_5/translate.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ignition/losses.h"
#include "ignition/translation.h"
#include "ignition/v3_4/translate.h"
#include "ignition/validation.h"

namespace pintle::ignition::v3_5 {
namespace {

constexpr Rules kRules = {
    .version = kVersion,
    .sha256 = true,
    .urls = {.google_storage = true, .arn = true},
    .format_none = true,
};

// Calls `visit` with the advertisement of each Tang server of these LUKS volumes, and with its path.
template <typename Luks, typename Visit>
void ForEachAdvertisement(std::vector<Luks>& list, Visit&& visit) {
  const json::Path root;
  const json::Path storage(root, "storage");
  const json::Path volumes(storage, "luks");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json::Path volume(volumes, i);
    const json::Path clevis(volume, "clevis");
    const json::Path pins(clevis, "tang");
    for (std::size_t j = 0; j < list[i].clevis.tang.size(); ++j) {
      visit(list[i].clevis.tang[j].advertisement, json::Path(json::Path(pins, j), "advertisement"));
    }
  }
}

template <typename Luks>
void WarnOfLostAdvertisements(std::vector<Luks>& list, json::Report& report) {
  ForEachAdvertisement(list, [&](const std::optional<std::string>& advertisement, const json::Path& path) {
    if (!internal::IsSet(advertisement)) return;
    report.Warning(
        path, "is lost in the translation between spec 3.4 and 3.5: the machine will request it from the Tang server");
  });
}

template <typename Luks>
void DropAdvertisements(std::vector<Luks>& list) {
  ForEachAdvertisement(list,
                       [](std::optional<std::string>& advertisement, const json::Path&) { advertisement.reset(); });
}

void WarnOfLostCex(const std::vector<Luks>& list, json::Report& report) {
  const json::Path root;
  const json::Path storage(root, "storage");
  const json::Path volumes(storage, "luks");
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!internal::IsTrue(list[i].cex.enabled)) continue;
    report.Warning(json::Path(json::Path(volumes, i), "cex"), "is lost: spec 3.4 cannot bind a key to a CEX card");
  }
}

}  // namespace

void Validate(const Config& config, json::Report& report) { ValidateBy(kRules, config, report); }

void ValidateParsed(const Config& config, json::Report& report) {
  Rules rules = kRules;
  rules.sources = false;
  ValidateBy(rules, config, report);
}

Config ReadThisOrOlder(Reading& reading) {
  if (reading.minor == 5) return ReadAndValidate<Config>(reading, kRules);
  v3_4::Config config = v3_4::ReadThisOrOlder(reading);
  WarnOfLostAdvertisements(config.storage.luks, reading.report);
  return FromPrevious(std::move(config));
}

// Ignition's own translation loses the advertisements of Tang servers between 3.4 and 3.5, in both directions.  Our
// translation must also lose them, so that a rendered config has the same contents, and the same digest in its name.
Config FromPrevious(v3_4::Config config) {
  DropAdvertisements(config.storage.luks);
  return Translate<Config>(std::move(config), kVersion);
}

Result<v3_4::Config> ToPrevious(Config config, json::Report& lost) {
  WarnOfLostCex(config.storage.luks, lost);
  WarnOfLostAdvertisements(config.storage.luks, lost);
  DropAdvertisements(config.storage.luks);
  auto previous = Translate<v3_4::Config>(std::move(config), v3_4::kVersion);
  TRY(CheckTranslated(previous, v3_4::Validate));
  return previous;
}

}  // namespace pintle::ignition::v3_5
