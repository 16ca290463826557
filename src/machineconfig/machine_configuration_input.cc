// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/machine_configuration_input.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "json/fields.h"

namespace pintle::machineconfig {
namespace {

// Reads a section that may stand alone, or in `spec` under its name.
template <typename Section>
Result<Section> ReadSection(const std::string& file, Accepts accepts, const char* name) {
  std::vector<json::Value> documents = TRY(ReadDocuments(file, accepts));
  if (documents.empty()) return Section();
  if (documents.size() > 1) {
    return Error(ErrorKind::kInvalid, fmt::format("{}: {} documents where one is needed", file, documents.size()));
  }
  json::Value document = std::move(documents.front());
  if (document.is_object() && document.contains("spec")) document = json::Value(std::move(document["spec"]));
  if (document.is_object() && document.contains(name)) document = json::Value(std::move(document[name]));
  json::Report report;
  Section section = json::Decode<Section>(std::move(document), report);
  TRY(report.ToResult(), file);
  return section;
}

}  // namespace

Result<api::NodeDisruptionPolicy> ReadPolicy(const std::string& file, Accepts accepts) {
  return ReadSection<api::NodeDisruptionPolicy>(file, accepts, "nodeDisruptionPolicy");
}

Result<api::IrreconcilableValidationOverrides> ReadOverrides(const std::string& file) {
  return ReadSection<api::IrreconcilableValidationOverrides>(file, Accepts::kAnything,
                                                             "irreconcilableValidationOverrides");
}

}  // namespace pintle::machineconfig
