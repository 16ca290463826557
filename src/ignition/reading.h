// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reading of one document, handed from a version of the specification to the one before it until one knows it.

#include <utility>

#include "ignition/read.h"
#include "ignition/validation.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::ignition {

struct Reading {
  json::Value document;
  int minor;  // The version that the document says it is of: 3.`minor`.0, or 2.`minor`.0.
  json::Report& report;
  bool has_wrong_types = false;  // Not all of it could be read; then it was not validated.
};

// Reads the document as the version that it says.  Problems are in the report.
template <typename Config>
Config ReadAndValidate(Reading& reading, const Rules& rules) {
  Config config = Read<Config>(std::move(reading.document), reading.report);
  reading.has_wrong_types = reading.report.has_errors();
  if (!reading.has_wrong_types) ValidateBy(rules, config, reading.report);
  return config;
}

}  // namespace pintle::ignition
