// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a translation to an older version says that it cannot be done.

#include <string>
#include <utility>

#include "base/result.h"
#include "json/report.h"

namespace pintle::ignition {

// `what` is the converter's text, which tools know; where it is, is ours.
inline Error CannotSay(std::string what, const json::Path& path) {
  return Error(ErrorKind::kInvalid, std::move(what) + " (at " + path.ToString() + ")");
}

// A report in Ignition's form, one line a problem.
std::string ToIgnitionText(const json::Report& report);

// What was translated must be valid: a value that the older version does not know is an error here.
template <typename Config>
Result<> CheckTranslated(const Config& config, void (&validate)(const Config&, json::Report&)) {
  json::Report report;
  validate(config, report);
  if (!report.has_errors()) return {};
  return Error(ErrorKind::kInvalid, "Converted spec has unexpected fatal error:\n" + ToIgnitionText(report));
}

}  // namespace pintle::ignition
