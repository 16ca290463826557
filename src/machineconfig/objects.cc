// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/objects.h"

#include <fmt/core.h>

#include <utility>

#include "json/fields.h"
#include "json/known_keys.h"

namespace pintle::machineconfig {
namespace {

enum class Type { kText, kBool, kObject, kTextList, kTextMap };

// Returns the name that Go's errors use for the kind of a value.
std::string_view GoKindOf(const json::Value& value) {
  switch (value.type()) {
    case json::Value::Type::kObject:
      return "object";
    case json::Value::Type::kArray:
      return "array";
    case json::Value::Type::kString:
      return "string";
    case json::Value::Type::kBoolean:
      return "bool";
    default:
      return "number";
  }
}

struct TypedField {
  std::string_view key;
  Type type;
  std::string_view go_type;
  std::string_view go_field;  // The Go struct that has the field, and the field's path.
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
    {"extensions", Type::kTextList, "[]string", "MachineConfigSpec.spec.extensions"},
    {"fips", Type::kBool, "bool", "MachineConfigSpec.spec.fips"},
    {"kernelArguments", Type::kTextList, "[]string", "MachineConfigSpec.spec.kernelArguments"},
    {"kernelType", Type::kText, "string", "MachineConfigSpec.spec.kernelType"},
    {"osImageURL", Type::kText, "string", "MachineConfigSpec.spec.osImageURL"},
};

Error TypeMismatch(const json::Value& value, std::string_view go_field, std::string_view go_type) {
  return Error(ErrorKind::kInvalid, fmt::format("json: cannot unmarshal {} into Go struct field {} of type {}",
                                                GoKindOf(value), go_field, go_type));
}

// Visits the elements of a list, or the values of an object's members.
template <typename AnyValue, typename Visit>
void ForEachIn(AnyValue& value, const Visit& visit) {
  for (auto& element : value) visit(element);
  if (!value.is_object()) return;
  for (auto& [key, member] : value.members()) visit(member);
}

bool IsText(const json::Value& value) { return value.is_string() || value.is_null(); }

// Null is valid for every type.
Result<> CheckType(const json::Value& value, const TypedField& field) {
  if (value.is_null()) return {};
  bool fits = false;
  switch (field.type) {
    case Type::kText:
      fits = value.is_string();
      break;
    case Type::kBool:
      fits = value.is_boolean();
      break;
    case Type::kObject:
    case Type::kTextMap:
      fits = value.is_object();
      break;
    case Type::kTextList:
      fits = value.is_array();
      break;
  }
  if (!fits) return TypeMismatch(value, field.go_field, field.go_type);
  if (field.type != Type::kTextList && field.type != Type::kTextMap) return {};
  const json::Value* misfit = nullptr;
  ForEachIn(value, [&](const json::Value& element) {
    if (misfit == nullptr && !IsText(element)) misfit = &element;
  });
  if (misfit != nullptr) return TypeMismatch(*misfit, field.go_field, "string");
  return {};
}

template <std::size_t kCount>
Result<> CheckTypes(const json::Value& object, const TypedField (&fields)[kCount]) {
  for (const TypedField& field : fields) {
    const json::Value* member = object.Find(field.key);
    if (member != nullptr) TRY(CheckType(*member, field));
  }
  return {};
}

Result<> CheckMachineConfig(const json::Value& document) {
  if (!document.is_object()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("json: cannot unmarshal {} into Go value of type v1.MachineConfig", GoKindOf(document)));
  }
  TRY(CheckTypes(document, kObjectFields));
  if (const json::Value* metadata = document.Find("metadata"); metadata != nullptr && metadata->is_object()) {
    TRY(CheckTypes(*metadata, kMetadataFields));
  }
  if (const json::Value* spec = document.Find("spec"); spec != nullptr && spec->is_object()) {
    TRY(CheckTypes(*spec, kSpecFields));
  }
  return {};
}

// Go reads null as "" in a list of strings and as a value of a map of strings.
void NullToText(json::Value* texts) {
  if (texts == nullptr) return;
  ForEachIn(*texts, [](json::Value& text) {
    if (text.is_null()) text = "";
  });
}

// Returns the member `key` of a section of the document, or null.
json::Value* Find(json::Value& document, std::string_view section, std::string_view key) {
  json::Value* outer = document.Find(section);
  return outer == nullptr ? nullptr : outer->Find(key);
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

std::string_view KindOf(const json::Value& document) { return document.TextAt({"kind"}); }

Error WrongKind(std::string_view kind, std::string_view actual) {
  return Error(ErrorKind::kInvalid, json::IsPlainName(actual)
                                        ? fmt::format("its kind is {} instead of {}", actual, kind)
                                        : fmt::format("its kind is not {}", kind));
}

Result<> ForEachObject(std::vector<json::Value> documents, const std::function<Result<>(json::Value object)>& each) {
  for (json::Value& document : documents) {
    json::Value* items = KindOf(document).ends_with("List") ? document.Find("items") : nullptr;
    if (items == nullptr || !items->is_array()) {
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
