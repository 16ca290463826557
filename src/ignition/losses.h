// SPDX-License-Identifier: Apache-2.0
#pragma once

// Errors about configs that cannot be translated to an older version.

#include <string>
#include <utility>

#include "base/result.h"
#include "json/report.h"

namespace pintle::ignition {

// `message` is that of CoreOS's ign-converter, which tools may look for; we append the path.
inline Error CannotTranslate(std::string message, const json::Path& path) {
  return Error(ErrorKind::kInvalid, std::move(message) + " (at " + path.ToString() + ")");
}

// Formats a report as Ignition does, with one problem a line.
std::string ToIgnitionText(const json::Report& report);

// Validates the result of a translation, since some value may be unknown to the older version.
template <typename Config>
Result<> CheckTranslated(const Config& config, void (&validate)(const Config&, json::Report&)) {
  json::Report report;
  validate(config, report);
  if (!report.has_errors()) return {};
  return Error(ErrorKind::kInvalid, "Converted spec has unexpected fatal error:\n" + ToIgnitionText(report));
}

}  // namespace pintle::ignition
