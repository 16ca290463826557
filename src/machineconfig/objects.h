// SPDX-License-Identifier: Apache-2.0
#pragma once

// Documents to objects: a MachineConfig, a pool, a ControllerConfig.
//
// What has the wrong type is refused with all problems and, first, with the words in which the Machine Config Operator
// says it.

#include <functional>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::machineconfig {

Result<api::MachineConfig> ReadMachineConfig(json::Value document);

// The `kind` of a document, or "".
std::string_view KindOf(const json::Value& document);

// Hands each object on: those in a List one by one, others as they are.
Result<> ForEachObject(std::vector<json::Value> documents, const std::function<Result<>(json::Value object)>& each);

// The error where `kind` is needed.  What stands in the place of the kind may be anything, a password too, and is shown
// only if it can be a kind.
Error Not(std::string_view kind, std::string_view actual);

// An object of a type that says its kind; one without a kind is taken for it.
template <typename T>
Result<T> ReadObject(json::Value document, std::string_view kind) {
  if (const std::string_view actual = KindOf(document); !actual.empty() && actual != kind) return Not(kind, actual);
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  TRY(report.ToResult());
  return object;
}

// The document of a MachineConfig, into which its Ignition config is moved.
json::Value ToDocument(api::MachineConfig config);

}  // namespace pintle::machineconfig
