// SPDX-License-Identifier: Apache-2.0
#include "base/first_characters.h"

#include "base/utf8.h"

namespace pintle {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

}  // namespace

std::string FirstCharacters(std::string_view text, std::size_t count) {
  std::string first;
  for (; count > 0 && !text.empty(); --count) {
    const Utf8Character character = FirstUtf8Character(text);
    first += character.is_valid ? text.substr(0, character.length) : kReplacement;
    text.remove_prefix(character.is_valid ? character.length : 1);
  }
  return first;
}

}  // namespace pintle
