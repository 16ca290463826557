// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the errors of decoding a document into a struct, in the words of Go's encoding/json.
//
// After a value of the wrong type, Go reads on, and returns the first such error at the end.  But if a type has a
// reader of its own that refuses a text, such as a duration without a unit, reading ends at once with that error,
// whatever was wrong before.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/parse.h"
#include "machineconfig/yaml_scalar.h"

namespace pintle::generated {

// In YAML, a number or a boolean may be given for a text; in JSON, a text has to be quoted.
enum class GoSource { kJson, kYaml };

// The place of a value: the struct whose field it belongs to, and the names of the fields on the way.  It is a list of
// parts on the stack, one for each struct.
struct GoPlace {
  const GoPlace* above = nullptr;
  std::string_view struct_name;  // "v1beta1.KubeletConfiguration"
  std::string_view embedded;     // The embedded struct that has the field, if there is one.
  std::string_view field;
};

class GoReading {
 public:
  explicit GoReading(GoSource source) : source_(source) {}

  GoSource source() const { return source_; }

  // `type` is the expected type.
  void WrongType(const json::Value& value, std::string_view type, const GoPlace* place);
  // The value is a number that the type cannot hold.
  void DoesNotFit(const json::Value& value, std::string_view type, const GoPlace* place);
  // The value has the wrong type for a type with a reader of its own.  This ends the reading.
  void FailOnType(const json::Value& value, std::string_view type, const GoPlace* place);
  void Fail(std::string message);

  bool has_ended() const { return ended_.has_value(); }
  Result<> ToResult() const;

 private:
  GoSource source_;
  std::optional<std::string> first_;
  std::optional<std::string> ended_;
};

// Returns whether Go decodes `key` into this field if no other field has exactly this name.  It ignores the case.
bool FoldsTo(std::string_view key, std::string_view field);

// Returns a number as Go writes it into JSON, or nullopt if the value is no number.
std::optional<machineconfig::Number> NumberInJson(const json::Value& value);

// Returns the text that a scalar of YAML becomes if a text is expected, or nullopt if it is neither a number nor a
// boolean.
std::optional<std::string> AsYamlText(const json::Value& value);

}  // namespace pintle::generated
