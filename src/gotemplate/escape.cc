// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/escape.h"

#include <fmt/core.h>

#include "base/ascii.h"
#include "gotext/unicode.h"

namespace pintle::gotemplate {
namespace {

// Returns the escaped form of a character, or "" if the character needs no escape.
std::string_view HtmlOf(char c) {
  switch (c) {
    case '\0':
      return "\xef\xbf\xbd";
    case '"':
      return "&#34;";
    case '\'':
      return "&#39;";
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    default:
      return "";
  }
}

void AppendJavaScript(char32_t rune, std::string& to) {
  const auto value = static_cast<unsigned>(rune);
  if (rune == '\\' || rune == '\'' || rune == '"') {
    to += '\\';
    to += static_cast<char>(rune);
  } else if (rune < ' ' || rune == '<' || rune == '>' || rune == '&' || rune == '=' ||
             !(rune < 0x80 || gotext::IsPrintable(rune))) {
    to += fmt::format("\\u{:04X}", value);
  } else {
    gotext::AppendRune(rune, to);
  }
}

bool IsUnreserved(char c) { return IsLetterOrDigit(c) || std::string_view("-_.~").find(c) != std::string_view::npos; }

}  // namespace

std::string HtmlEscaped(std::string_view text, std::size_t longest) {
  std::string escaped;
  for (const char c : text) {
    if (escaped.size() > longest) break;
    if (const std::string_view html = HtmlOf(c); !html.empty()) {
      escaped += html;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string JavaScriptEscaped(std::string_view text, std::size_t longest) {
  std::string escaped;
  while (!text.empty() && escaped.size() <= longest) {
    const gotext::Rune rune = gotext::FirstRune(text);
    if (rune.value == gotext::kRuneError) {
      escaped += text.substr(0, rune.bytes);  // Bytes that are not UTF-8 stay as they are.
    } else {
      AppendJavaScript(rune.value, escaped);
    }
    text.remove_prefix(rune.bytes);
  }
  return escaped;
}

std::string QueryEscaped(std::string_view text, std::size_t longest) {
  std::string escaped;
  for (const char c : text) {
    if (escaped.size() > longest) break;
    if (IsUnreserved(c)) {
      escaped += c;
    } else if (c == ' ') {
      escaped += '+';
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

}  // namespace pintle::gotemplate
