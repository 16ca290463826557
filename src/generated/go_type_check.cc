// SPDX-License-Identifier: Apache-2.0
#include "generated/go_type_check.h"

#include <fmt/core.h>

#include <concepts>
#include <cstdint>

#include "base/base64.h"
#include "generated/go_struct.h"

namespace pintle::generated {
namespace {

using gotemplate::Kind;
using gotemplate::StructField;
using gotemplate::Type;

template <std::integral T>
void CheckWholeNumber(const json::Value& value, const Type& type, const GoPlace* place, GoReading& reading) {
  T ignored = 0;
  GoType<T>::ReadAs(type.name, value, ignored, place, reading);
}

// Go decodes a list of bytes from base64.
void CheckList(const json::Value& value, const Type& type, const GoPlace* place, GoReading& reading) {
  if (value.is_string() && type.element->kind == Kind::kUint8) {
    if (const auto problem = FindBase64Problem(value.text())) {
      reading.Report(fmt::format("illegal base64 data at input byte {}", *problem));
    }
    return;
  }
  if (!value.is_array()) return reading.ReportWrongType(value, type.name, place);
  for (const json::Value& element : value) CheckGoType(element, *type.element, place, reading);
}

void CheckMap(const json::Value& value, const Type& type, const GoPlace* place, GoReading& reading) {
  if (!value.is_object()) return reading.ReportWrongType(value, type.name, place);
  for (const auto& [key, member] : value.members()) CheckGoType(member, *type.element, place, reading);
}

void CheckStruct(const json::Value& value, const Type& type, const GoPlace* place, GoReading& reading) {
  if (!value.is_object()) return reading.ReportWrongType(value, type.name, place);
  for (const StructField& field : type.fields) {
    // A field without a name in JSON is an embedded struct, whose fields are members of the same object.
    if (field.json_name.empty()) {
      CheckGoType(value, *field.type, place, reading);
    } else if (const json::Value* member = value.Find(field.json_name)) {
      const GoPlace inner{.above = place, .struct_name = type.name, .embedded = {}, .field = field.json_name};
      CheckGoType(*member, *field.type, &inner, reading);
    }
  }
}

}  // namespace

void CheckGoType(const json::Value& value, const Type& type, const GoPlace* place, GoReading& reading) {
  if (value.is_null()) return;
  switch (type.kind) {
    case Kind::kPointer:
      return CheckGoType(value, *type.element, place, reading);
    case Kind::kString:
      if (!value.is_string()) reading.ReportWrongType(value, type.name, place);
      return;
    case Kind::kBool:
      if (!value.is_boolean()) reading.ReportWrongType(value, type.name, place);
      return;
    case Kind::kUint8:
      return CheckWholeNumber<std::uint8_t>(value, type, place, reading);
    case Kind::kUint32:
      return CheckWholeNumber<std::uint32_t>(value, type, place, reading);
    case Kind::kInt64:
      return CheckWholeNumber<std::int64_t>(value, type, place, reading);
    case Kind::kSlice:
      return CheckList(value, type, place, reading);
    case Kind::kMap:
      return CheckMap(value, type, place, reading);
    case Kind::kStruct:
      return CheckStruct(value, type, place, reading);
    default:
      return;  // The data of the operator's templates has no values of other kinds.
  }
}

}  // namespace pintle::generated
