// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes tables of TOML from any bytes, and the values that these tables must be parsed to.
//
// The bytes are a list of steps.  Each step adds a member to a table.  It begins with a letter for the kind of member:
// 't' a table, '[' a list of two equal tables, 'b' a boolean, 'n' a number, 'l' a list of texts, another byte a text.
// The key follows and, for texts, the text; both end with a zero byte.  '.' ends a table, and has no key.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "json/value.h"
#include "toml/writer.h"

namespace pintle::toml_steps {

using json::Value;

class Steps {
 public:
  explicit Steps(std::string_view bytes) : left_(bytes) {}

  bool at_end() const { return left_.empty(); }

  // Removes the letter of a step from the bytes, and returns it.
  char Kind() {
    const char kind = left_[0];
    left_.remove_prefix(1);
    return kind;
  }

  // Removes a key or a text from the bytes, and returns it.
  std::string_view Text() {
    const std::size_t end = std::min(left_.find('\0'), left_.size());
    const std::string_view text = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    return text;
  }

 private:
  std::string_view left_;
};

// Carries out the steps up to the end of the table.  Each adds a member to the table, and to the value that the table
// must be parsed to.  A step with a key that the table already has adds nothing.
inline void Fill(Steps& steps, toml::Table& table, Value& expected, std::size_t depth) {
  constexpr std::size_t kDeepest = 20;
  while (!steps.at_end()) {
    const char kind = steps.Kind();
    if (kind == '.') return;
    const std::string_view key = steps.Text();
    if (expected.contains(key)) continue;
    Value& value = expected[key];
    switch (kind) {
      case 't':
      case '[':
        if (depth < kDeepest) {
          toml::Table inner;
          Value members = Value::object();
          Fill(steps, inner, members, depth + 1);
          if (kind == 't') {
            table.Add(key, std::move(inner));
            value = std::move(members);
          } else {
            table.Add(key, toml::Tables{inner, inner});
            value = Value::array({members, members});
          }
          break;
        }
        [[fallthrough]];
      case 'b':
        table.Add(key, true);
        value = true;
        break;
      case 'n':
        table.Add(key, static_cast<std::int64_t>(key.size()) - 5);
        value = static_cast<std::int64_t>(key.size()) - 5;
        break;
      case 'l': {
        const std::string text(steps.Text());
        table.Add(key, toml::Texts{text, "", text});
        value = Value::array({text, "", text});
        break;
      }
      default: {
        const std::string_view text = steps.Text();
        table.Add(key, text);
        value = std::string(text);
        break;
      }
    }
  }
}

}  // namespace pintle::toml_steps
