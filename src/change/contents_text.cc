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

constexpr std::ptrdiff_t kMostLinesInDiff = 100'000;

bool IsText(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && json::Parse(json::ToText(std::string(bytes)))->text() == bytes;
}

bool IsLong(std::string_view bytes) {
  return bytes.size() > kMostBytesInDiff || std::count(bytes.begin(), bytes.end(), '\n') > kMostLinesInDiff;
}

std::string LengthsText(std::string_view summary, std::size_t bytes_before, std::size_t bytes_after) {
  return fmt::format("{}: {} bytes before, {} after\n", summary, bytes_before, bytes_after);
}

}  // namespace

std::string TooLongText(std::size_t bytes_before, std::size_t bytes_after) {
  return LengthsText("the contents differ, and are too long to print", bytes_before, bytes_after);
}

std::string ContentsText(std::string_view path, std::string_view from, std::string_view to) {
  if (from == to) return "";
  if (HoldsASecret(path)) return LengthsText("secret contents differ", from.size(), to.size());
  if (IsLong(from) || IsLong(to) || (IsText(from) && IsText(to))) return TextDiff(from, to);
  return LengthsText("binary contents differ", from.size(), to.size());
}

std::string TextDiff(std::string_view from, std::string_view to) {
  if (from != to && (IsLong(from) || IsLong(to))) return TooLongText(from.size(), to.size());
  return UnifiedDiff(from, to);
}

}  // namespace pintle::change
