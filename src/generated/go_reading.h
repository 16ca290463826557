// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the errors of decoding a document into a struct, in the words of Go's encoding/json.
//
// After a value of the wrong type, Go continues to decode, and returns the first such error at the end.  But if a type
// has its own method UnmarshalJSON and this method fails, for example for a duration without a unit, decoding ends at
// once with the error of the method, and earlier errors are dropped.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/parse.h"
#include "machineconfig/yaml.h"
#include "machineconfig/yaml_scalar.h"

namespace pintle::generated {

// In YAML, a field that is a string also accepts a number or a boolean.  In JSON, it does not.
enum class GoSource { kJson, kYaml };

// The place of a value: the struct whose field it belongs to, and the names of the fields that lead there.  The places
// of nested structs form a linked list on the stack.  For the document itself, the place is nullptr.
struct GoPlace {
  const GoPlace* above = nullptr;
  std::string_view struct_name;  // "v1beta1.KubeletConfiguration"
  std::string_view embedded;     // The embedded struct that has the field; empty if the field is the struct's own.
  std::string_view field;
};

class GoReading {
 public:
  using Quotes = machineconfig::Quotes;

  explicit GoReading(GoSource source, Quotes quotes = Quotes::kAllowed) : source_(source), quotes_(quotes) {}

  GoSource source() const { return source_; }

  // Reports a value of another type than the expected type, which is `type`.
  void ReportWrongType(const json::Value& value, std::string_view type, const GoPlace* place);
  // Reports a number that the type cannot hold.
  void ReportOutOfRange(const json::Value& value, std::string_view type, const GoPlace* place);
  // Reports a problem of any other kind.  Decoding continues, as after a wrong type.  The message may quote the value.
  void Report(std::string message);
  // Reports a value of the wrong type to which UnmarshalJSON was applied.  This ends the decoding.
  void FailOnType(const json::Value& value, std::string_view type, const GoPlace* place);
  // Reports an error of UnmarshalJSON, which may quote the value.  This ends the decoding.
  void Fail(std::string message);

  // Counts an infinite number, or "not a number", that was decoded as a text.
  void NoteNonFiniteText() { ++non_finite_texts_; }
  // Returns an error if the document has such a number where no text is expected: Go writes the document as JSON before
  // it decodes the document, and JSON cannot represent this number.  Must be called after decoding.
  Result<> CheckNumbersOf(const json::Value& document) const;

  bool has_ended() const { return final_error_.has_value(); }
  // Returns the error that Go would return.
  Result<> ToResult() const;

 private:
  std::string WithoutQuotes(std::string message) const;

  GoSource source_;
  Quotes quotes_;
  std::size_t non_finite_texts_ = 0;
  std::optional<std::string> first_error_;
  std::optional<std::string> final_error_;
};

// Returns whether the two names differ at most in upper and lower case.  If no field has exactly the name of a key, Go
// decodes the key into a field whose name differs only in this way.
bool FoldsTo(std::string_view key, std::string_view field);

// Returns the number that Go would write into JSON for a value, or nullopt if the value is no number.
std::optional<machineconfig::Number> NumberInJson(const json::Value& value);

// Returns the error of decoding a value that has no place of its own: "json: cannot unmarshal number 1.5 into Go value
// of type time.Duration".  If the value is a number, the type must be one that cannot hold it.
std::string WrongTypeText(const json::Value& value, std::string_view type);

// Returns the text that Go decodes from a scalar of YAML where a string is expected, or nullopt if the scalar is
// neither a number nor a boolean.
std::optional<std::string> AsYamlText(const json::Value& value);

}  // namespace pintle::generated
