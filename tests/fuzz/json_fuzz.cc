// SPDX-License-Identifier: Apache-2.0

// A value that was parsed from JSON and written again is parsed as the same value.  ReadList() reads the values that
// Parse() reads, and no others, whatever the size of its window.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "json/list_reader.h"
#include "json/parse.h"

namespace {

void CheckListReader(std::string_view text) {
  using namespace pintle::json;
  const std::string list = "[" + std::string(text) + "]";
  Value::Array elements;
  const auto take = [&](Value element) {
    elements.push_back(std::move(element));
    return true;
  };
  const bool is_read = ReadList(list, {}, take).has_value();
  const Value::Array in_memory = std::exchange(elements, {});
  if (is_read) {
    const auto parsed = Parse(list);
    if (!parsed || *parsed != Value(in_memory)) std::abort();
  }
  for (const std::size_t window : {std::size_t{1}, text.size() % 31 + 1}) {
    std::string_view rest = list;
    const auto read = [&](std::span<char> to) -> std::optional<std::size_t> {
      const std::string_view piece = rest.substr(0, to.size());
      std::copy(piece.begin(), piece.end(), to.begin());
      rest.remove_prefix(piece.size());
      return piece.size();
    };
    elements.clear();
    if (ReadList(read, {}, take, {}, window).has_value() != is_read) std::abort();
    if (is_read && elements != in_memory) std::abort();
  }
  static constexpr std::array<std::string_view, 1> kWanted = {"a"};
  constexpr std::array kMembers = {Omission{"a", "b"}, Omission{"a", "c", "a"}};
  constexpr std::array kPrefixes = {PrefixChoice{"", "b", kWanted}};
  constexpr std::array kElements = {ElementChoice{"", "a", "a", kWanted}};
  (void)ReadList(list, {kMembers, kPrefixes, kElements}, [](const Value&) { return true; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pintle::json::Parse;
  pintle::json::Report report;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckListReader(text);
  const auto value = Parse(text, &report);
  if (!value) {
    if (value.error().message().empty()) std::abort();
    return 0;
  }
  const auto again = Parse(pintle::json::ToText(*value));
  if (!again || *again != *value) std::abort();
  const auto indented = Parse(pintle::json::ToIndentedText(*value));
  if (!indented || *indented != *value) std::abort();
  return 0;
}
