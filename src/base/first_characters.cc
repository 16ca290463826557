// SPDX-License-Identifier: Apache-2.0
#include "base/first_characters.h"

#include "base/utf8.h"

namespace pintle {
namespace {

constexpr std::size_t kLongestCharacter = 4;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Of the text's first character; 0 if it does not begin with one.
std::size_t LengthOfFirst(std::string_view text) {
  for (std::size_t length = 1; length <= kLongestCharacter && length <= text.size(); ++length) {
    if (IsUtf8(text.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

std::string FirstCharacters(std::string_view text, std::size_t count) {
  std::string first;
  for (; count > 0 && !text.empty(); --count) {
    const std::size_t length = LengthOfFirst(text);
    first += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return first;
}

}  // namespace pintle
