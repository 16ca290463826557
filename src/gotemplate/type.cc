// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/type.h"

#include <algorithm>

namespace pintle::gotemplate {
namespace {

// Looks for the field only in structs that are embedded `depth` levels deep.  Returns whether it is there, and adds the
// way to it to `path`.
bool FindAt(const Type& type, std::string_view name, std::size_t depth, FieldPath& path) {
  const std::size_t level = path.length++;
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const StructField& field = type.fields[i];
    path.indices[level] = i;
    if (depth == 0) {
      if (field.name != name) continue;
      path.field = &field;
      return true;
    }
    if (!field.is_embedded) continue;
    const Type& inner = field.type->kind == Kind::kPointer ? *field.type->element : *field.type;
    if (FindAt(inner, name, depth - 1, path)) return true;
  }
  --path.length;
  return false;
}

}  // namespace

bool IsSame(const Type& a, const Type& b) { return &a == &b || (a.kind == b.kind && a.name == b.name); }

bool IsAssignable(const Type& from, const Type& to) {
  if (IsSame(from, to) || to.kind == Kind::kInterface) return true;
  if (from.kind != to.kind || (from.is_named && to.is_named)) return false;
  const auto is_same = [](const Type* a, const Type* b) {
    return a == b || (a != nullptr && b != nullptr && IsSame(*a, *b));
  };
  switch (from.kind) {
    case Kind::kSlice:
    case Kind::kPointer:
    case Kind::kMap:
      return is_same(from.element, to.element) && is_same(from.key, to.key);
    case Kind::kArray:
      return is_same(from.element, to.element) && from.length == to.length;
    default:
      return false;
  }
}

bool IsComparable(const Type& type) {
  switch (type.kind) {
    case Kind::kSlice:
    case Kind::kMap:
    case Kind::kFunction:
      return false;
    case Kind::kArray:
      return IsComparable(*type.element);
    case Kind::kStruct:
      return std::all_of(type.fields.begin(), type.fields.end(),
                         [](const StructField& field) { return IsComparable(*field.type); });
    default:
      return true;
  }
}

std::optional<FieldPath> FindField(const Type& type, std::string_view name) {
  for (std::size_t depth = 0; depth < FieldPath::kLongest; ++depth) {
    FieldPath path;
    if (FindAt(type, name, depth, path)) return path;
  }
  return std::nullopt;
}

}  // namespace pintle::gotemplate
