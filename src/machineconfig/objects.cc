// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/objects.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "json/known_keys.h"

namespace pintle::machineconfig {
namespace {

enum class Type { kText, kTruth, kObject, kTexts, kTextMap };

// What Go would call a value and a type.

std::string_view GoValue(const json::Value& value) {
  switch (value.type()) {
    case json::Value::value_t::object:
      return "object";
    case json::Value::value_t::array:
      return "array";
    case json::Value::value_t::string:
      return "string";
    case json::Value::value_t::boolean:
      return "bool";
    default:
      return "number";
  }
}

struct TypedField {
  std::string_view key;
  Type type;
  std::string_view go_type;
  std::string_view go_field;  // The struct that has it, and the path to it.
};

constexpr TypedField kObjectFields[] = {
    {"metadata", Type::kObject, "v1.ObjectMeta", "MachineConfig.metadata"},
    {"spec", Type::kObject, "v1.MachineConfigSpec", "MachineConfig.spec"},
};
constexpr TypedField kMetadataFields[] = {
    {"annotations", Type::kTextMap, "map[string]string", "ObjectMeta.metadata.annotations"},
    {"labels", Type::kTextMap, "map[string]string", "ObjectMeta.metadata.labels"},
    {"name", Type::kText, "string", "ObjectMeta.metadata.name"},
};
constexpr TypedField kSpecFields[] = {
    {"baseOSExtensionsContainerImage", Type::kText, "string", "MachineConfigSpec.spec.baseOSExtensionsContainerImage"},
    {"extensions", Type::kTexts, "[]string", "MachineConfigSpec.spec.extensions"},
    {"fips", Type::kTruth, "bool", "MachineConfigSpec.spec.fips"},
    {"kernelArguments", Type::kTexts, "[]string", "MachineConfigSpec.spec.kernelArguments"},
    {"kernelType", Type::kText, "string", "MachineConfigSpec.spec.kernelType"},
    {"osImageURL", Type::kText, "string", "MachineConfigSpec.spec.osImageURL"},
};

Error Misfit(const json::Value& value, std::string_view go_field, std::string_view go_type) {
  return Error(ErrorKind::kInvalid, fmt::format("json: cannot unmarshal {} into Go struct field {} of type {}",
                                                GoValue(value), go_field, go_type));
}

bool IsText(const json::Value& value) { return value.is_string() || value.is_null(); }

// Null fits every type.
Result<> CheckType(const json::Value& value, const TypedField& field) {
  if (value.is_null()) return {};
  bool fits = false;
  switch (field.type) {
    case Type::kText:
      fits = value.is_string();
      break;
    case Type::kTruth:
      fits = value.is_boolean();
      break;
    case Type::kObject:
    case Type::kTextMap:
      fits = value.is_object();
      break;
    case Type::kTexts:
      fits = value.is_array();
      break;
  }
  if (!fits) return Misfit(value, field.go_field, field.go_type);
  if (field.type != Type::kTexts && field.type != Type::kTextMap) return {};
  for (const json::Value& element : value) {
    if (!IsText(element)) return Misfit(element, field.go_field, "string");
  }
  return {};
}

template <std::size_t kCount>
Result<> CheckTypes(const json::Value& object, const TypedField (&fields)[kCount]) {
  for (const TypedField& field : fields) {
    const auto member = object.find(field.key);
    if (member != object.end()) TRY(CheckType(*member, field));
  }
  return {};
}

Result<> CheckMachineConfig(const json::Value& document) {
  if (!document.is_object()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("json: cannot unmarshal {} into Go value of type v1.MachineConfig", GoValue(document)));
  }
  TRY(CheckTypes(document, kObjectFields));
  if (const auto metadata = document.find("metadata"); metadata != document.end() && metadata->is_object()) {
    TRY(CheckTypes(*metadata, kMetadataFields));
  }
  if (const auto spec = document.find("spec"); spec != document.end() && spec->is_object()) {
    TRY(CheckTypes(*spec, kSpecFields));
  }
  return {};
}

// Go reads null in a list of texts, or as a value of a map of them, as "".
void NullToText(json::Value* texts) {
  if (texts == nullptr || !texts->is_structured()) return;
  for (json::Value& text : *texts) {
    if (text.is_null()) text = "";
  }
}

json::Value* Find(json::Value& document, std::string_view section, std::string_view key) {
  const auto outer = document.find(section);
  if (outer == document.end() || !outer->is_object()) return nullptr;
  const auto inner = outer->find(key);
  return inner == outer->end() ? nullptr : &*inner;
}

}  // namespace

Result<api::MachineConfig> ReadMachineConfig(json::Value document) {
  TRY(CheckMachineConfig(document));
  NullToText(Find(document, "metadata", "labels"));
  NullToText(Find(document, "metadata", "annotations"));
  NullToText(Find(document, "spec", "kernelArguments"));
  NullToText(Find(document, "spec", "extensions"));
  return ReadObject<api::MachineConfig>(std::move(document), api::MachineConfig::kKind);
}

std::string_view KindOf(const json::Value& document) {
  if (!document.is_object()) return "";
  const auto kind = document.find("kind");
  if (kind == document.end() || !kind->is_string()) return "";
  return kind->get_ref<const std::string&>();
}

Error Not(std::string_view kind, std::string_view actual) {
  return Error(ErrorKind::kInvalid, json::IsPlainName(actual)
                                        ? fmt::format("its kind is {} instead of {}", actual, kind)
                                        : fmt::format("its kind is not {}", kind));
}

Result<> ForEachObject(std::vector<json::Value> documents, const std::function<Result<>(json::Value object)>& each) {
  for (json::Value& document : documents) {
    const auto items =
        document.is_object() && KindOf(document).ends_with("List") ? document.find("items") : document.end();
    if (items == document.end() || !items->is_array()) {
      TRY(each(std::move(document)));
      continue;
    }
    for (json::Value& item : *items) TRY(each(std::move(item)));
  }
  return {};
}

json::Value ToDocument(api::MachineConfig config) {
  json::Value ignition_config = std::exchange(config.spec.config, nullptr);
  json::Value document = json::Encode(config);
  document["spec"]["config"] = std::move(ignition_config);
  return document;
}

}  // namespace pintle::machineconfig
