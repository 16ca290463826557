// SPDX-License-Identifier: Apache-2.0
#include "vectors/generated/go_values.h"

#include <complex>
#include <cwctype>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "gotemplate/json_value.h"
#include "gotemplate/print.h"
#include "gotext/unicode.h"
#include "json/parse.h"

namespace pintle::vectors {
namespace {

using gotemplate::Function;
using gotemplate::Functions;
using gotemplate::Kind;
using gotemplate::Memory;
using gotemplate::StructField;
using gotemplate::Type;
using gotemplate::Value;

using Values = std::span<const Value>;

constexpr Type kIntPointer = {Kind::kPointer, "*int", false, &gotemplate::kIntType};
constexpr Type kStringPointer = {Kind::kPointer, "*string", false, &gotemplate::kStringType};
constexpr StructField kInnerFields[] = {{"Name", &gotemplate::kStringType, "Name"},
                                        {"Num", &gotemplate::kIntType, "Num"},
                                        {"Ptr", &kIntPointer, "Ptr"},
                                        {"List", &gotemplate::kStringsType, "List"},
                                        {"hid", &gotemplate::kStringType, "hid"}};
constexpr Type kInner = {Kind::kStruct, "main.Inner", true, nullptr, nullptr, kInnerFields};
constexpr Type kInnerPointer = {Kind::kPointer, "*main.Inner", false, &kInner};
constexpr Type kIntMap = {Kind::kMap, "map[int]string", false, &gotemplate::kStringType, &gotemplate::kIntType};
constexpr Type kInnerMap = {Kind::kMap, "map[string]*main.Inner", false, &kInnerPointer, &gotemplate::kStringType};
constexpr Type kArray = {Kind::kArray, "[3]int", false, &gotemplate::kIntType, nullptr, {}, 3, &gotemplate::kIntsType};
constexpr Type kKind = {Kind::kString, "main.Kind", true};
constexpr Type kListOfKinds = {Kind::kSlice, "[]main.Kind", false, &kKind};
constexpr Type kFunction = {Kind::kFunction, "func(int) int"};
constexpr StructField kOuterFields[] = {{"Inner", &kInnerPointer, "Inner", true},
                                        {"Title", &gotemplate::kStringType, "Title"},
                                        {"In", &kInnerPointer, "In"},
                                        {"Nil", &kInnerPointer, "Nil"},
                                        {"Map", &gotemplate::kStringMapType, "Map"},
                                        {"Any", &gotemplate::kAnyType, "Any"},
                                        {"Bytes", &gotemplate::kBytesType, "Bytes"},
                                        {"U8", &gotemplate::kUint8Type, "U8"},
                                        {"F", &gotemplate::kFloat64Type, "F"},
                                        {"B", &gotemplate::kBoolType, "B"},
                                        {"IM", &kIntMap, "IM"},
                                        {"SM", &kInnerMap, "SM"},
                                        {"Arr", &kArray, "Arr"},
                                        {"Kind", &kKind, "Kind"},
                                        {"Kinds", &kListOfKinds, "Kinds"},
                                        {"NilMap", &gotemplate::kStringMapType, "NilMap"},
                                        {"NilList", &gotemplate::kStringsType, "NilList"},
                                        {"PS", &kStringPointer, "PS"},
                                        {"Fn", &kFunction, "Fn"},
                                        {"C", &gotemplate::kComplex128Type, "C"}};
constexpr Type kOuter = {Kind::kStruct, "main.Outer", true, nullptr, nullptr, kOuterFields};
constexpr Type kOuterPointer = {Kind::kPointer, "*main.Outer", false, &kOuter};

constexpr const char* kOuterJson = R"({
  "Inner": {"Name": "emb", "Num": 7, "Ptr": 9, "List": ["a", "b", "c"], "hid": "h"},
  "Title": "T", "In": {"Name": "in", "Num": 0}, "Map": {"k": "v", "a": "z"}, "Any": "any", "Bytes": "aMOp",
  "U8": 200, "F": 1.5, "B": true, "IM": {"10": "ten", "2": "two", "-1": "neg"},
  "SM": {"x": {"Name": "sx"}, "nil": null}, "Arr": [1, 2, 3], "Kind": "DualStack", "Kinds": ["x", "y"], "PS": "ps"})";

Result<Value> Twice(Values values, Memory&) { return Value::Integer(2 * values.front().integer()); }

struct Outer {
  Outer() {
    const auto parsed = json::Parse(kOuterJson);
    if (!parsed) throw std::runtime_error(parsed.error().message());
    document = *parsed;
    const Value made = gotemplate::FromJson(document, kOuter, memory);
    std::vector<Value> fields;
    for (std::size_t i = 0; i < kOuter.fields.size(); ++i) {
      const std::string_view name = kOuter.fields[i].name;
      fields.push_back(name == "Fn"  ? Value::Of(twice, kFunction)
                       : name == "C" ? Value::Complex(complex)
                                     : made.FieldAt(i));
    }
    value = Value::Struct(kOuter, memory.Keep(std::move(fields)).data());
  }

  json::Value document;
  Memory memory;
  const Function twice = {{&gotemplate::kIntType}, false, &gotemplate::kIntType, Twice};
  const std::complex<double> complex = {1, -2};
  Value value;
};

const Outer& TheOuter() {
  static const Outer kTheOuter;
  return kTheOuter;
}

std::string Upper(std::string_view text) {
  std::string upper;
  while (!text.empty()) {
    const gotext::Rune rune = gotext::FirstRune(text);
    const bool is_latin = rune.value >= 0xe0 && rune.value <= 0xfe && rune.value != 0xf7;
    const bool is_ascii = rune.value >= 'a' && rune.value <= 'z';
    gotext::AppendRune(is_latin || is_ascii ? rune.value - 0x20 : rune.value, upper);
    text.remove_prefix(rune.bytes);
  }
  return upper;
}

std::string Indented(std::int64_t spaces, std::string_view text) {
  const std::string padding(static_cast<std::size_t>(spaces), ' ');
  std::string indented = padding;
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += padding;
  }
  return indented;
}

Result<Value> Join(Values values, Memory& memory) {
  std::string joined;
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    if (i > 0) joined += values[1].text();
    joined += values[0].ElementAt(i).text();
  }
  return Value::Text(memory.Keep(joined));
}

Result<Value> Kinds(Values, Memory& memory) {
  return Value::Sequence(kListOfKinds, memory.Keep(std::vector{Value::Text("k1", kKind), Value::Text("k2", kKind)}));
}

Result<Value> Sum(Values values, Memory&) {
  std::int64_t sum = 0;
  for (const Value& value : values) sum += value.integer();
  return Value::Integer(sum);
}

Result<Value> Sequence(Values values, Memory& memory) {
  std::vector<Value> numbers;
  for (std::int64_t i = 0; i < values.front().integer(); ++i) numbers.push_back(Value::Integer(i));
  return Value::Sequence(gotemplate::kIntsType, memory.Keep(std::move(numbers)));
}

Error Wrong(std::string_view text) { return Error(ErrorKind::kInvalid, std::string(text)); }

// Makes a function without parameters that always returns the same value.
Function Constant(const Type& type, Value value) {
  return {{}, false, &type, [value](Values, Memory&) -> Result<Value> { return value; }};
}

Function Failing(const char* text) {
  return {{}, false, &gotemplate::kStringType, [text](Values, Memory&) -> Result<Value> { return Wrong(text); }};
}

Functions MakeFunctions() {
  const Type* const text = &gotemplate::kStringType;
  const Type* const integer = &gotemplate::kIntType;
  Functions functions;
  functions["join"] = {{&gotemplate::kStringsType, text}, false, text, Join};
  functions["upper"] = {{text}, false, text, [](Values values, Memory& memory) -> Result<Value> {
                          return Value::Text(memory.Keep(Upper(values.front().text())));
                        }};
  functions["indent"] = {{integer, text}, false, text, [](Values values, Memory& memory) -> Result<Value> {
                           if (values[0].integer() < 0) return Wrong("strings: negative Repeat count");
                           return Value::Text(memory.Keep(Indented(values[0].integer(), values[1].text())));
                         }};
  functions["fail"] = {
      {text}, false, text, [](Values values, Memory&) -> Result<Value> { return Wrong(values.front().text()); }};
  functions["two"] = Constant(gotemplate::kIntType, Value::Integer(2));
  functions["toInt64"] = Constant(gotemplate::kInt64Type, Value::Integer(5, gotemplate::kInt64Type));
  functions["toUint"] = Constant(gotemplate::kUintType, Value::Unsigned(5));
  functions["neg"] = Constant(gotemplate::kIntType, Value::Integer(-1));
  functions["f32"] = Constant(gotemplate::kFloat32Type, Value::Real(0.1F, gotemplate::kFloat32Type));
  functions["add"] = {{integer, integer}, false, integer, Sum};
  functions["sum"] = {{integer}, true, integer, Sum};
  functions["anyStr"] = Constant(gotemplate::kAnyType, Value::Text("external"));
  functions["nilAny"] = Constant(gotemplate::kAnyType, Value());
  functions["strs"] = {{}, false, &gotemplate::kAnyType, [](Values, Memory& memory) -> Result<Value> {
                         return memory.Strings({"p", "q"});
                       }};
  functions["kinds"] = {{}, false, &kListOfKinds, Kinds};
  functions["boom"] = Failing("boom");
  functions["boomErr"] = Failing("boom error");
  functions["takesStruct"] = {
      {&kOuter}, false, text, [](Values values, Memory&) -> Result<Value> { return values.front().FieldAt(1); }};
  functions["takesAny"] = {{&gotemplate::kAnyType}, false, text, [](Values values, Memory& memory) -> Result<Value> {
                             return Value::Text(memory.Keep(*gotemplate::PrintFormat("%T", values)));
                           }};
  functions["seq"] = {{integer}, false, &gotemplate::kIntsType, Sequence};
  return functions;
}

}  // namespace

Value GoValue(const std::string& name) {
  if (name == "nilptr") return Value::Zero(kOuterPointer);
  if (name == "outerptr") return Value::Pointer(kOuterPointer, &TheOuter().value);
  if (name == "outer") return TheOuter().value;
  throw std::runtime_error("no value of Go is named " + name);
}

const Functions& GoFunctions() {
  static const Functions kFunctions = MakeFunctions();
  return kFunctions;
}

}  // namespace pintle::vectors
