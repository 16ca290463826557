// SPDX-License-Identifier: Apache-2.0
#include "ctl/progress_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/first_characters.h"
#include "base/printable.h"

namespace pintle::ctl {
namespace {

constexpr std::size_t kMinActivityColumns = 8;

}  // namespace

std::size_t ColumnsOf(const std::string& text) {
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_first_byte));
}

std::string FittingLine(const host::ActivityProgress& activity, std::size_t columns) {
  const std::string whole = Printable(InWords(activity));
  if (ColumnsOf(whole) <= columns) return whole;
  const std::string part = Printable(PartInWords(activity));
  const std::size_t other_columns = ColumnsOf(part) + std::string_view("...: ").size();
  if (other_columns + kMinActivityColumns > columns) return FirstCharacters(part.empty() ? whole : part, columns);
  return FirstCharacters(Printable(activity.doing), columns - other_columns) + "...: " + part;
}

std::optional<std::string> LineForEachTenth::LineOf(const host::ActivityProgress& activity, MonotonicTime now) {
  if (std::exchange(doing_, activity.doing) != activity.doing) {
    tenth_ = 0;
    next_ = now + kMinInterval;
  }
  if (!activity.percent || now < next_) return std::nullopt;
  if (std::exchange(tenth_, *activity.percent / 10) == *activity.percent / 10) return std::nullopt;
  next_ = now + kMinInterval;
  return InWords(activity);
}

}  // namespace pintle::ctl
