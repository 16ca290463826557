// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/comparison.h"

#include <fmt/core.h>

#include <cstdint>

#include "gotemplate/invalid.h"
#include "gotemplate/print.h"

namespace pintle::gotemplate {
namespace {

// Values of one family can be compared even if their types differ, such as int and int64.
enum class Family : std::uint8_t { kNone, kBool, kComplex, kSigned, kFloat, kText, kUnsigned };

Family FamilyOf(const Value& value) {
  const Kind kind = value.kind();
  if (IsSigned(kind)) return Family::kSigned;
  if (IsUnsigned(kind)) return Family::kUnsigned;
  if (IsFloat(kind)) return Family::kFloat;
  if (kind == Kind::kBool) return Family::kBool;
  if (kind == Kind::kComplex128) return Family::kComplex;
  return kind == Kind::kString ? Family::kText : Family::kNone;
}

bool IsNil(const Value& value) { return !value.is_valid() || (CanBeNil(value.kind()) && value.is_nil()); }

Error Incompatible(const Value& a, const Value& b) {
  return Invalid(fmt::format("incompatible types for comparison: {} and {}", a.type().name, b.type().name));
}

bool IsEqualInFamily(const Value& a, const Value& b, Family family) {
  switch (family) {
    case Family::kBool:
      return a.boolean() == b.boolean();
    case Family::kComplex:
      return a.complex() == b.complex();
    case Family::kFloat:
      return a.real() == b.real();
    case Family::kText:
      return a.text() == b.text();
    default:
      return a.unsigned_integer() == b.unsigned_integer();
  }
}

// Compares as == does for interfaces in Go: values of different types are not equal.  Both types must be comparable.
bool IsIdentical(const Value& a, const Value& b) {
  if (a.is_valid() != b.is_valid()) return false;
  if (!a.is_valid()) return true;
  if (a.is_interface() || b.is_interface()) return IsIdentical(WithoutInterface(a), WithoutInterface(b));
  if (!IsSame(a.type(), b.type())) return false;
  if (const Family family = FamilyOf(a); family != Family::kNone) return IsEqualInFamily(a, b, family);
  if (a.kind() == Kind::kStruct) {
    for (std::size_t i = 0; i < a.type().fields.size(); ++i) {
      if (!IsIdentical(a.FieldAt(i), b.FieldAt(i))) return false;
    }
    return true;
  }
  if (a.kind() == Kind::kArray) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!IsIdentical(a.ElementAt(i), b.ElementAt(i))) return false;
    }
    return true;
  }
  return a.IsSamePointer(b);
}

Result<bool> EqualsOutsideFamilies(const Value& a, const Value& b) {
  const bool can_compare = a.kind() == b.kind() || !a.is_valid() || !b.is_valid();
  if (!can_compare) {
    return Invalid(fmt::format("non-comparable types {}: {}, {}: {}", FormattedValue(a, 's'), a.type().name,
                               b.type().name, FormattedValue(b)));
  }
  if (IsNil(a) || IsNil(b)) return IsNil(a) == IsNil(b);
  if (!IsComparable(b.type())) {
    return Invalid(fmt::format("non-comparable type {}: {}", FormattedValue(b, 's'), b.type().name));
  }
  return IsIdentical(a, b);
}

Result<bool> Equals(const Value& a, const Value& b) {
  const Family family = FamilyOf(a);
  const Family other_family = FamilyOf(b);
  if (family == other_family) {
    if (family == Family::kNone) return EqualsOutsideFamilies(a, b);
    return IsEqualInFamily(a, b, family);
  }
  if (family == Family::kSigned && other_family == Family::kUnsigned) {
    return a.integer() >= 0 && a.unsigned_integer() == b.unsigned_integer();
  }
  if (family == Family::kUnsigned && other_family == Family::kSigned) {
    return b.integer() >= 0 && a.unsigned_integer() == b.unsigned_integer();
  }
  if (a.is_valid() && b.is_valid()) return Incompatible(a, b);
  return false;
}

}  // namespace

Result<bool> EqualsAny(std::span<const Value> values) {
  if (values.size() < 2) return Invalid("missing argument for comparison");
  const Value first = WithoutInterface(values.front());
  for (const Value& value : values.subspan(1)) {
    if (TRY(Equals(first, WithoutInterface(value)))) return true;
  }
  return false;
}

Result<bool> IsLess(const Value& first, const Value& second) {
  const Value a = WithoutInterface(first);
  const Value b = WithoutInterface(second);
  const Family family = FamilyOf(a);
  const Family other_family = FamilyOf(b);
  if (family == Family::kNone || other_family == Family::kNone) return Invalid("invalid type for comparison");
  if (family == Family::kSigned && other_family == Family::kUnsigned) {
    return a.integer() < 0 || a.unsigned_integer() < b.unsigned_integer();
  }
  if (family == Family::kUnsigned && other_family == Family::kSigned) {
    return b.integer() >= 0 && a.unsigned_integer() < b.unsigned_integer();
  }
  if (family != other_family) return Incompatible(a, b);
  switch (family) {
    case Family::kFloat:
      return a.real() < b.real();
    case Family::kSigned:
      return a.integer() < b.integer();
    case Family::kUnsigned:
      return a.unsigned_integer() < b.unsigned_integer();
    case Family::kText:
      return a.text() < b.text();
    default:
      return Invalid("invalid type for comparison");
  }
}

Result<bool> IsLessOrEqual(const Value& a, const Value& b) {
  if (TRY(IsLess(a, b))) return true;
  return Equals(WithoutInterface(a), WithoutInterface(b));
}

}  // namespace pintle::gotemplate
