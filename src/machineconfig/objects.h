// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts documents to objects: a MachineConfig, a pool, a ControllerConfig.
//
// A MachineConfig with values of wrong types is refused with an error about the first of them, in the words of the
// Machine Config Operator.  For other objects, the error has all problems.

#include <functional>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"
#include "json/field_list.h"
#include "json/parse.h"

namespace pintle::machineconfig {

Result<api::MachineConfig> ReadMachineConfig(json::Value document);

// Returns the `kind` of a document, or "".
std::string_view KindOf(const json::Value& document);

// Calls `each` for each object; a List is split into its items.
Result<> ForEachObject(std::vector<json::Value> documents, const std::function<Result<>(json::Value object)>& each);

// Returns the error for a document that must have `kind`.  The actual kind may be any text, even a password, and is
// included only if it looks like a kind.
Error WrongKind(std::string_view kind, std::string_view actual);

// Reads an object that must be of this kind; a document without a kind is accepted.
template <typename T>
Result<T> ReadObject(json::Value document, std::string_view kind) {
  if (const std::string_view actual = KindOf(document); !actual.empty() && actual != kind)
    return WrongKind(kind, actual);
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  TRY(report.ToResult());
  return object;
}

// Returns the document of a MachineConfig.  Its Ignition config is moved and not copied.
json::Value ToDocument(api::MachineConfig config);

}  // namespace pintle::machineconfig
