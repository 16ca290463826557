// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is wrong with a document that Go's encoding/json reads into a struct, in its words.
//
// A value of the wrong type is remembered, and what follows is read all the same; the first of those is the error.  But
// a text that its type refuses, such as a duration without a unit, ends the reading and is the error whatever was wrong
// before it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/parse.h"
#include "machineconfig/yaml_scalar.h"

namespace pintle::generated {

// YAML that goes into a text may be a number or a truth as well, which JSON has in quotes.
enum class GoSource { kJson, kYaml };

// Where a value is: the struct whose field it is or is part of, and the names of the fields that lead there.  It is a
// chain of parts on the stack, one a struct.
struct GoPlace {
  const GoPlace* above = nullptr;
  std::string_view struct_name;  // "v1beta1.KubeletConfiguration"
  std::string_view embedded;     // The struct that the field comes from, where that is another.
  std::string_view field;
};

class GoReading {
 public:
  explicit GoReading(GoSource source) : source_(source) {}

  GoSource source() const { return source_; }

  // `type` is what was wanted.
  void WrongType(const json::Value& value, std::string_view type, const GoPlace* place);
  // A number that the type cannot hold.
  void DoesNotFit(const json::Value& value, std::string_view type, const GoPlace* place);
  // A value of the wrong type for a type with a reader of its own, which ends the reading.
  void FailOnType(const json::Value& value, std::string_view type, const GoPlace* place);
  void Fail(std::string message);

  bool has_ended() const { return ended_.has_value(); }
  Result<> ToResult() const;

 private:
  GoSource source_;
  std::optional<std::string> first_;
  std::optional<std::string> ended_;
};

// Whether `key` is taken for the field of this name when no other field has just this name: the case does not count.
bool FoldsTo(std::string_view key, std::string_view field);

// A number as it stands in JSON that Go has written; nothing for what is none.
std::optional<machineconfig::Number> NumberInJson(const json::Value& value);

// The text that a scalar of YAML becomes where a text is wanted; nothing for what is no number and no truth.
std::optional<std::string> AsYamlText(const json::Value& value);

}  // namespace pintle::generated
