// SPDX-License-Identifier: Apache-2.0
#pragma once

// A document that is being read.  The code of each version of the specification passes it to the code of the previous
// version, until the document's version is reached.

#include <utility>

#include "ignition/read.h"
#include "ignition/validation.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::ignition {

struct Reading {
  json::Value document;
  int minor;  // The version in the document: 3.`minor`.0, or 2.`minor`.0.
  json::Report& report;
  bool has_wrong_types = false;  // If set, some values could not be read, so the config was not validated.
};

// Reads a document of exactly this version.  Problems go to the report.
template <typename Config>
Config ReadAndValidate(Reading& reading, const Rules& rules) {
  Config config = Read<Config>(std::move(reading.document), reading.report);
  reading.has_wrong_types = reading.report.has_errors();
  if (!reading.has_wrong_types) ValidateBy(rules, config, reading.report);
  return config;
}

}  // namespace pintle::ignition
