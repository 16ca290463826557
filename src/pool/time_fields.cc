// SPDX-License-Identifier: Apache-2.0
#include "pool/time_fields.h"

#include <fmt/core.h>

#include "base/time_span.h"

namespace pintle::pool {

std::optional<std::chrono::seconds> SpanOf(const std::string& text, const std::string& field,
                                           std::vector<std::string>& problems) {
  if (text.empty()) return std::nullopt;
  const auto span = ParseTimeSpan(text);
  if (span) return std::chrono::ceil<std::chrono::seconds>(*span);
  problems.push_back(fmt::format("{}: \"{}\" {}", field, text, span.error().message()));
  return std::nullopt;
}

std::optional<std::chrono::seconds> LimitOf(const std::string& text, const std::string& field,
                                            std::vector<std::string>& problems) {
  const auto limit = SpanOf(text, field, problems);
  if (limit != std::chrono::seconds(0)) return limit;
  problems.push_back(fmt::format(
      "{}: \"{}\" must be longer than 0s; write a time such as 30min, or leave the field out", field, text));
  return std::nullopt;
}

}  // namespace pintle::pool
