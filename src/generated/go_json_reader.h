// SPDX-License-Identifier: Apache-2.0
#pragma once

// Members of objects by the rules by which Go decodes JSON that was YAML, with its words for what has the wrong type.
//
// Like Go, it reads on behind a value of the wrong type, and tells of the first.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace pintle::generated {

class GoJsonReader {
 public:
  // What is done with the value of a field.
  struct Field {
    std::string_view name;  // Of Go, and thereby the key.
    std::function<void(const json::Value& value)> read;
  };

  // The members of a struct.  `type` is its name in Go, with its package.  Null is an empty struct.
  void ReadStruct(const json::Value& value, std::string_view type, const std::vector<Field>& fields);

  // For use in Field::read.  Null leaves `to` as it is, or without a value.
  void Read(const json::Value& value, std::string& to);
  void Read(const json::Value& value, std::optional<std::string>& to);
  void Read(const json::Value& value, std::optional<std::int64_t>& to);
  void Read(const json::Value& value, std::optional<bool>& to);
  // Calls `read` with each element of a list of such a type.
  void ReadList(const json::Value& value, std::string_view element_type,
                const std::function<void(const json::Value& element)>& read);

  // The first error.
  Result<> Finish() const;

 private:
  void Fail(const json::Value& value, std::string_view wanted);

  std::string_view struct_;             // That is being read, without its package.
  std::vector<std::string_view> path_;  // Of fields that lead to it.
  std::optional<std::string> error_;
};

// A number as Go writes it into JSON.
std::string GoNumber(const json::Value& number);

}  // namespace pintle::generated
