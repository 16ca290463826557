// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>

#include "gotemplate/comparison.h"
#include "gotemplate/escape.h"
#include "gotemplate/execution.h"
#include "gotemplate/function.h"
#include "gotemplate/invalid.h"
#include "gotemplate/print.h"

namespace pintle::gotemplate {
namespace {

using Values = std::span<const Value>;

// Makes the error that templates report where Go's reflection panics.
Error NoValue(const char* method) {
  return Invalid(fmt::format("reflect: call of reflect.Value.{} on zero Value", method));
}

// Converts an index of an element, or a bound of a slice.  As in Go, the capacity itself is accepted here.
Result<std::size_t> IndexFrom(const Value& index, std::size_t capacity) {
  if (!index.is_valid()) return Invalid("cannot index slice/array with nil");
  if (!IsSigned(index.kind()) && !IsUnsigned(index.kind())) {
    return Invalid(fmt::format("cannot index slice/array with type {}", index.type().name));
  }
  if (index.integer() < 0 || index.unsigned_integer() > capacity) {
    return Invalid(fmt::format("index out of range: {}", index.integer()));
  }
  return static_cast<std::size_t>(index.unsigned_integer());
}

Result<Value> ElementOf(const Value& item, const Value& index) {
  const Kind kind = item.kind();
  if (kind == Kind::kMap) {
    const Value key = TRY(PreparedArgument(index, *item.type().key));
    const Value value = Find(item, key);
    return value.is_valid() ? value : Value::Zero(*item.type().element);
  }
  if (!IsSequence(kind) && kind != Kind::kString) {
    return Invalid(fmt::format("can't index item of type {}", item.type().name));
  }
  const std::size_t at = TRY(IndexFrom(index, item.size()));
  if (at == item.size()) {
    const char* kind_name = kind == Kind::kString ? "string" : kind == Kind::kSlice ? "slice" : "array";
    return Invalid(fmt::format("reflect: {} index out of range", kind_name));
  }
  if (kind == Kind::kString) return Value::Unsigned(static_cast<unsigned char>(item.text()[at]), kUint8Type);
  return item.ElementAt(at);
}

Result<Value> Index(Values values, Memory&) {
  Value item = WithoutInterface(values.front());
  if (!item.is_valid()) return Invalid("index of untyped nil");
  for (const Value& index : values.subspan(1)) {
    const FollowedValue followed = Follow(item);
    if (followed.is_nil) return Invalid("index of nil pointer");
    item = TRY(ElementOf(followed.value, WithoutInterface(index)));
  }
  return item;
}

Result<Value> Slice(Values values, Memory&) {
  const Value item = WithoutInterface(values.front());
  const Values indices = values.subspan(1);
  if (!item.is_valid()) return Invalid("slice of untyped nil");
  if (indices.size() > 3) return Invalid(fmt::format("too many slice indexes: {}", indices.size()));
  const bool is_text = item.kind() == Kind::kString;
  if (is_text && indices.size() == 3) return Invalid("cannot 3-index slice a string");
  if (!is_text && !IsSequence(item.kind())) {
    return Invalid(fmt::format("can't slice item of type {}", item.type().name));
  }
  const std::size_t capacity = is_text ? item.size() : item.capacity();
  std::array<std::size_t, 3> bounds = {0, item.size(), capacity};
  for (std::size_t i = 0; i < indices.size(); ++i) bounds[i] = TRY(IndexFrom(indices[i], capacity));
  for (std::size_t i = 0; i < 2; ++i) {
    if (bounds[i] <= bounds[i + 1]) continue;
    return Invalid(fmt::format("invalid slice index: {} > {}", bounds[i], bounds[i + 1]));
  }
  if (item.kind() == Kind::kArray) {
    if (!item.is_addressable()) {
      return Invalid(
          fmt::format("reflect.Value.Slice{}: slice of unaddressable array", indices.size() == 3 ? "3" : ""));
    }
    return item.Part(bounds[0], bounds[1], bounds[2], *item.type().slice_type);
  }
  return item.Part(bounds[0], bounds[1], bounds[2], item.type());
}

Result<Value> LengthOf(Values values, Memory&) {
  const FollowedValue item = Follow(values.front());
  if (item.is_nil) return Invalid("len of nil pointer");
  const Kind kind = item.value.kind();
  if (kind == Kind::kInvalid) return NoValue("Type");
  if (IsSequence(kind) || kind == Kind::kMap || kind == Kind::kString) {
    return Value::Integer(static_cast<std::int64_t>(item.value.size()));
  }
  return Invalid(fmt::format("len of type {}", item.value.type().name));
}

Result<Value> Not(Values values, Memory&) { return Value::Bool(!IsTrue(WithoutInterface(values.front()))); }

// Stands for `and`, `or` and `call`.  It is never called, because the evaluator itself implements them.
Result<Value> ImplementedInEvaluator(Values, Memory&) { return Value(); }

Result<Value> Eq(Values values, Memory&) { return Value::Bool(TRY(EqualsAny(values))); }
Result<Value> Ne(Values values, Memory&) { return Value::Bool(!TRY(EqualsAny(values))); }
Result<Value> Lt(Values values, Memory&) { return Value::Bool(TRY(IsLess(values[0], values[1]))); }
Result<Value> Le(Values values, Memory&) { return Value::Bool(TRY(IsLessOrEqual(values[0], values[1]))); }
Result<Value> Gt(Values values, Memory&) { return Value::Bool(!TRY(IsLessOrEqual(values[0], values[1]))); }
Result<Value> Ge(Values values, Memory&) { return Value::Bool(!TRY(IsLess(values[0], values[1]))); }

Result<Value> PrintAll(Values values, Memory& memory) { return Value::Text(memory.Keep(TRY(Print(values)))); }
Result<Value> PrintAllOnLine(Values values, Memory& memory) { return Value::Text(memory.Keep(TRY(PrintLine(values)))); }
Result<Value> PrintWithFormat(Values values, Memory& memory) {
  return Value::Text(memory.Keep(TRY(PrintFormat(values.front().text(), values.subspan(1)))));
}

// Prints the arguments.  For a pointer, prints the value that it refers to.
Result<std::string> TextOf(Values values) {
  std::vector<Value> printed;
  for (const Value& value : values) {
    const Printable printable = PrintableOf(value);
    printed.push_back(printable.can_be_printed ? printable.value : value);
  }
  return Print(printed);
}

template <std::string (*kEscape)(std::string_view text, std::size_t longest)>
Result<Value> Escape(Values values, Memory& memory) {
  std::string escaped = kEscape(TRY(TextOf(values)), kLongestPrint);
  TRY(CheckLength(escaped));
  return Value::Text(memory.Keep(std::move(escaped)));
}

Functions MakeBuiltins() {
  const std::vector<const Type*> any = {&kAnyType};
  const std::vector<const Type*> value = {&kAnyValueType};
  const std::vector<const Type*> two_values = {&kAnyValueType, &kAnyValueType};
  return {
      {"and", {two_values, true, &kAnyValueType, ImplementedInEvaluator}},
      {"or", {two_values, true, &kAnyValueType, ImplementedInEvaluator}},
      {"call", {two_values, true, &kAnyValueType, ImplementedInEvaluator}},
      {"not", {value, false, &kBoolType, Not}},
      {"len", {value, false, &kIntType, LengthOf}},
      {"index", {two_values, true, &kAnyValueType, Index}},
      {"slice", {two_values, true, &kAnyValueType, Slice}},
      {"eq", {two_values, true, &kBoolType, Eq}},
      {"ne", {two_values, false, &kBoolType, Ne}},
      {"lt", {two_values, false, &kBoolType, Lt}},
      {"le", {two_values, false, &kBoolType, Le}},
      {"gt", {two_values, false, &kBoolType, Gt}},
      {"ge", {two_values, false, &kBoolType, Ge}},
      {"print", {any, true, &kStringType, PrintAll}},
      {"println", {any, true, &kStringType, PrintAllOnLine}},
      {"printf", {{&kStringType, &kAnyType}, true, &kStringType, PrintWithFormat}},
      {"html", {any, true, &kStringType, Escape<HtmlEscaped>}},
      {"js", {any, true, &kStringType, Escape<JavaScriptEscaped>}},
      {"urlquery", {any, true, &kStringType, Escape<QueryEscaped>}},
  };
}

}  // namespace

const Functions& Builtins() {
  static const Functions kBuiltins = MakeBuiltins();
  return kBuiltins;
}

}  // namespace pintle::gotemplate
