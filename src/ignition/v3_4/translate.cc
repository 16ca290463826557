// SPDX-License-Identifier: Apache-2.0
#include "ignition/v3_4/translate.h"

#include <utility>

#include "ignition/losses.h"
#include "ignition/translation.h"
#include "ignition/v3_3/translate.h"
#include "ignition/validation.h"

namespace pintle::ignition::v3_4 {
namespace {

constexpr Rules kRules = {
    .version = kVersion,
    .sha256 = true,
    .urls = {.google_storage = true, .arn = true},
    .format_none = true,
};

}  // namespace

void Validate(const Config& config, json::Report& report) { ValidateBy(kRules, config, report); }

Config ReadThisOrOlder(Reading& reading) {
  if (reading.minor == 4) return ReadAndValidate<Config>(reading, kRules);
  return FromPrevious(v3_3::ReadThisOrOlder(reading));
}

Config FromPrevious(v3_3::Config config) { return Translate<Config>(std::move(config), kVersion); }

namespace {

// Each overload returns an error if a struct has, in a field of its own, anything that spec 3.3 does not support.
// RefuseLosses() visits the structs inside.
template <typename T>
Result<> RefuseOwnLosses(const T&, const json::Path&) {
  return {};
}

Result<> RefuseOwnLosses(const Tang& tang, const json::Path& path) {
  if (!internal::IsSet(tang.advertisement)) return {};
  return CannotTranslate("Invalid input config: tang offline provisioning is not supported in spec v3.3",
                         json::Path(path, "advertisement"));
}

Result<> RefuseOwnLosses(const Luks& luks, const json::Path& path) {
  if (internal::IsTrue(luks.discard)) {
    return CannotTranslate("Invalid input config: luks discard is not supported in spec v3.3",
                           json::Path(path, "discard"));
  }
  if (luks.open_options.empty()) return {};
  return CannotTranslate("Invalid input config: luks openOptions is not supported in spec v3.3",
                         json::Path(path, "openOptions"));
}

Result<> RefuseSpecialBits(const std::optional<std::int64_t>& mode, const json::Path& path) {
  if ((mode.value_or(0) & 07000) == 0) return {};
  return CannotTranslate("Invalid input config: special mode bits are not supported in spec v3.3",
                         json::Path(path, "mode"));
}

Result<> RefuseOwnLosses(const File& file, const json::Path& path) { return RefuseSpecialBits(file.mode, path); }
Result<> RefuseOwnLosses(const Directory& directory, const json::Path& path) {
  return RefuseSpecialBits(directory.mode, path);
}

Result<> RefuseOwnLosses(const Resource& resource, const json::Path& path) {
  if (!internal::IsSet(resource.source)) return {};
  const Url url = TRY(ParseUrl(*resource.source), "Invalid input config");
  if (url.scheme != "arn") return {};
  return CannotTranslate("Invalid input config: arn: scheme for s3 is not supported in spec v3.3",
                         json::Path(path, "source"));
}

// Returns an error for the first thing in a config, in the order of its fields, that spec 3.3 does not support.
template <typename T>
Result<> RefuseLosses(const T& value, const json::Path& path) {
  if constexpr (json::internal::kIsVector<T>) {
    for (std::size_t i = 0; i < value.size(); ++i) TRY(RefuseLosses(value[i], json::Path(path, i)));
  } else if constexpr (json::Described<T>) {
    TRY(RefuseOwnLosses(value, path));
    Result<> found;
    json::ForEachField<T>([&](const auto& field) {
      if (found) found = RefuseLosses(value.*field.member, json::Path(path, field.name));
    });
    return found;
  }
  return {};
}

}  // namespace

Result<v3_3::Config> ToPrevious(Config config) {
  TRY(RefuseLosses(config, json::Path()));
  auto previous = Translate<v3_3::Config>(std::move(config), v3_3::kVersion);
  TRY(CheckTranslated(previous, v3_3::Validate));
  return previous;
}

}  // namespace pintle::ignition::v3_4
