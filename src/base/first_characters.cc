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
    const Utf8Start start = StartOf(text);
    first += start.is_character ? text.substr(0, start.length) : kReplacement;
    text.remove_prefix(start.is_character ? start.length : 1);
  }
  return first;
}

}  // namespace pintle
