// SPDX-License-Identifier: Apache-2.0
#include "change/contents_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "change/masking.h"
#include "change/text_diff.h"
#include "json/parse.h"

namespace pintle::change {
namespace {

// Nobody reads longer contents line by line, so only their lengths are reported.
constexpr std::size_t kMostBytes = 4 << 20;
constexpr std::ptrdiff_t kMostLines = 100'000;

bool IsText(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && json::Parse(json::ToText(std::string(bytes)))->text() == bytes;
}

bool IsLong(std::string_view bytes) {
  return bytes.size() > kMostBytes || std::count(bytes.begin(), bytes.end(), '\n') > kMostLines;
}

std::string LengthsText(std::string_view summary, std::string_view from, std::string_view to) {
  return fmt::format("{}: {} bytes before, {} after\n", summary, from.size(), to.size());
}

}  // namespace

std::string ContentsText(std::string_view path, std::string_view from, std::string_view to) {
  if (from == to) return "";
  if (HoldsASecret(path)) return LengthsText("secret contents differ", from, to);
  if (IsLong(from) || IsLong(to) || (IsText(from) && IsText(to))) return TextDiff(from, to);
  return LengthsText("binary contents differ", from, to);
}

std::string TextDiff(std::string_view from, std::string_view to) {
  if (from != to && (IsLong(from) || IsLong(to)))
    return LengthsText("the contents differ, and are too long to print", from, to);
  return UnifiedDiff(from, to);
}

}  // namespace pintle::change
