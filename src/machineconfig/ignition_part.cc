// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/ignition_part.h"

#include <string>
#include <string_view>
#include <utility>

#include "json/go_json.h"

namespace pintle::machineconfig {

Result<ignition::Config> ParseIgnitionPart(const api::MachineConfig& config, json::Report& report) {
  const json::Value& document = config.spec.config;
  json::Report problems;
  auto parsed = ignition::Parse(document, problems);
  // The text costs as much memory as the document, and is needed only to locate problems.
  if (!parsed) {
    const std::string text = document.is_null() ? "" : json::GoJson(document);
    problems = json::Report();
    parsed = ignition::Parse(std::string_view(text), problems);
  }
  report = std::move(problems);
  return parsed;
}

std::string ParseErrorText(const Error& error) {
  const bool was_read = error.kind() == ErrorKind::kUnconvertible;
  return (was_read ? "" : "failed to parse Ignition config: ") + error.message();
}

}  // namespace pintle::machineconfig
