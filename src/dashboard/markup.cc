// SPDX-License-Identifier: Apache-2.0
#include "dashboard/markup.h"

#include <fmt/core.h>

#include "base/printable.h"

namespace pintle::dashboard {
namespace {

std::string WithEntities(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

}  // namespace

std::string Escaped(std::string_view text) { return WithEntities(Printable(text)); }

std::string EscapedLines(std::string_view text, std::size_t max_bytes) {
  return WithEntities(PrintableLines(Shortened(std::string(text), max_bytes)));
}

std::string TimeElement(WallTime time) {
  const std::string exact = ToRfc3339(time);  // "2026-11-27T07:30:00Z"
  return fmt::format("<time datetime=\"{}\">{} {} UTC</time>", exact, exact.substr(0, 10), exact.substr(11, 5));
}

}  // namespace pintle::dashboard
