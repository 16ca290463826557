// SPDX-License-Identifier: Apache-2.0
#include "json/go_text.h"

#include <algorithm>
#include <cstddef>

namespace pintle::json {
namespace {

// Returns the end of the quoted string that begins at `start`, behind its closing quote.
std::size_t EndOfText(std::string_view json, std::size_t start) {
  std::size_t at = start + 1;
  while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return std::min(at + 1, json.size());
}

}  // namespace

std::string Indented(std::string_view json, std::size_t spaces) {
  std::string text;
  std::size_t level = 0;
  const auto begin_line = [&] { text.append("\n").append(level * spaces, ' '); };
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    switch (c) {
      case '"': {
        const std::size_t end = EndOfText(json, at);
        text += json.substr(at, end - at);
        at = end - 1;
        break;
      }
      case '{':
      case '[': {
        const bool is_empty = at + 1 < json.size() && (json[at + 1] == '}' || json[at + 1] == ']');
        text += c;
        if (is_empty) {
          text += json[++at];
        } else {
          ++level;
          begin_line();
        }
        break;
      }
      case '}':
      case ']':
        --level;
        begin_line();
        text += c;
        break;
      case ',':
        text += c;
        begin_line();
        break;
      case ':':
        text += ": ";
        break;
      default:
        text += c;
    }
  }
  return text;
}

}  // namespace pintle::json
