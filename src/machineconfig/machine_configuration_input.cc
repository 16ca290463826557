// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/machine_configuration_input.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/lenient.h"
#include "base/printable.h"
#include "json/fields.h"

namespace pintle::machineconfig {
namespace {

constexpr const char* kKind = "MachineConfiguration";

// Reports keys that the type T does not have, and required keys that are missing.  Decoding the API's types ignores
// unknown keys.  But in a file that a person has written, an unknown key is a mistake.  If it were ignored, Pintle
// could reboot nodes that the person did not want to reboot.
template <typename T>
struct Schema {
  static void Check(const json::Value&, const json::Path&, json::Report&) {}
};

template <typename T>
struct Schema<std::optional<T>> {
  static void Check(const json::Value& value, const json::Path& path, json::Report& report) {
    if (!value.is_null()) Schema<T>::Check(value, path, report);
  }
};

template <typename T>
struct Schema<std::vector<T>> {
  static void Check(const json::Value& value, const json::Path& path, json::Report& report) {
    std::size_t index = 0;
    for (const json::Value& element : value) Schema<T>::Check(element, json::Path(path, index++), report);
  }
};

template <api::Lenient T>
struct Schema<T> {
  static void Check(const json::Value& value, const json::Path& path, json::Report& report) {
    if (!value.is_object()) return;  // Decoding reports the wrong type.
    std::vector<std::string_view> names;
    json::ForEachField<T>([&](const auto& field) {
      using Member = typename std::remove_cvref_t<decltype(field)>::Member;
      names.push_back(field.name);
      const json::Value* const member = value.Find(field.name);
      if (member != nullptr) Schema<Member>::Check(*member, json::Path(path, field.name), report);
      if (member == nullptr && field.kIsRequired) report.Error(json::Path(path, field.name), "is missing");
    });
    for (const auto& [key, member] : value.members()) {
      if (std::find(names.begin(), names.end(), key) != names.end()) continue;
      report.Error(json::Path(path, key), fmt::format("unknown key; known are {}", fmt::join(names, ", ")));
    }
  }
};

Result<> ExpectKind(const json::Value& document, const std::string& file) {
  const json::Value* const kind = document.Find("kind");
  if (kind == nullptr || *kind == json::Value(kKind)) return {};
  const std::string found =
      kind->is_string() ? Printable(kind->text()) + " instead of" : std::string("not a string; it must be");
  return Error(ErrorKind::kInvalid, fmt::format("{}: its kind is {} {}", file, found, kKind));
}

// Reads a section.  The document may be the section itself, or it may have the section under its name, either at its
// top or in `spec`.
template <typename Section>
Result<Section> ReadSection(const std::string& file, Accepts accepts, const char* name) {
  std::vector<json::Value> documents = TRY(ReadDocuments(file, accepts));
  if (documents.empty()) return Section();
  if (documents.size() > 1) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} has {} documents, but must have exactly one", file, documents.size()));
  }
  json::Value document = std::move(documents.front());
  TRY(ExpectKind(document, file));
  // A whole MachineConfiguration may lack the section.  Any other document has the section as a member, or is the
  // section.
  const bool is_whole = document.contains("kind") || document.contains("spec");
  if (is_whole) document = document.contains("spec") ? json::Value(std::move(document["spec"])) : json::Value::object();
  if (document.contains(name)) {
    document = json::Value(std::move(document[name]));
  } else if (is_whole) {
    return Section();
  }
  json::Report report;
  Schema<Section>::Check(document, {}, report);
  TRY(report.ToResult(), file);
  Section section = json::Decode<Section>(std::move(document), report);
  TRY(report.ToResult(), file);
  return section;
}

// Two policies for one thing are a mistake, since only one of them could have an effect.
template <typename Policy>
Result<> ExpectOneForEach(const std::vector<Policy>& policies, std::string Policy::*subject, const std::string& file) {
  std::set<std::string_view> subjects;
  for (const Policy& policy : policies) {
    if (subjects.insert(policy.*subject).second) continue;
    return Error(ErrorKind::kInvalid, fmt::format("{}: there are several policies for {}; keep one of them", file,
                                                  Printable(policy.*subject)));
  }
  return {};
}

}  // namespace

Result<api::NodeDisruptionPolicy> ReadPolicy(const std::string& file, Accepts accepts) {
  auto policy = TRY(ReadSection<api::NodeDisruptionPolicy>(file, accepts, "nodeDisruptionPolicy"));
  for (const api::FilePolicy& covered : policy.files) {
    if (covered.path.starts_with('/')) continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("{}: the path {} of `files` does not begin with a slash", file, Printable(covered.path)));
  }
  TRY(ExpectOneForEach(policy.files, &api::FilePolicy::path, file));
  TRY(ExpectOneForEach(policy.units, &api::UnitPolicy::name, file));
  return policy;
}

Result<api::IrreconcilableValidationOverrides> ReadOverrides(const std::string& file) {
  return ReadSection<api::IrreconcilableValidationOverrides>(file, Accepts::kAnything,
                                                             "irreconcilableValidationOverrides");
}

}  // namespace pintle::machineconfig
