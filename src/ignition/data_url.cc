// SPDX-License-Identifier: Apache-2.0
#include "ignition/data_url.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/base64.h"
#include "base/hex_digit.h"

namespace pintle::ignition {
namespace {

constexpr std::string_view kPrefix = "data:";
constexpr const char* kBadEscape = "rfc2396: invalid char 0x25 in unescape sequence";
constexpr const char* kShortEscape = "rfc2396: unexpected end of unescape sequence";

// Returns a table of the bytes that are printable ASCII and not in `excluded`.
constexpr std::array<bool, 256> PrintableBut(std::string_view excluded) {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x21; c < 0x7f; ++c) table[c] = excluded.find(static_cast<char>(c)) == std::string_view::npos;
  return table;
}

constexpr auto kIsToken = PrintableBut("()<>@,;:\\\"/[]?=");
constexpr auto kIsData = PrintableBut("<>#\"{}|\\^[]`");
constexpr auto kIsBase64 = PrintableBut("!\"#$%&'()*,-.:;<>?@[\\]^_`{|}~");

bool In(const std::array<bool, 256>& table, char c) { return table[static_cast<unsigned char>(c)]; }
bool AllIn(const std::array<bool, 256>& table, std::string_view text) {
  return std::all_of(text.begin(), text.end(), [&](char c) { return In(table, c); });
}

// Returns why a "%" in the text does not begin a valid escape, or "" if there is no such "%".
const char* EscapeProblem(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 3)) {
    for (std::size_t digit = at + 1; digit <= at + 2; ++digit) {
      if (digit >= text.size()) return kShortEscape;
      if (HexDigit(text[digit]) < 0) return kBadEscape;
    }
  }
  return "";
}

// Returns the length of the escape sequence behind a backslash in a quoted string, or nullopt if Go knows no such
// sequence.
std::optional<std::size_t> EscapeLength(std::string_view behind) {
  if (behind.empty()) return std::nullopt;
  if (std::string_view("abfnrtv\\\"").find(behind[0]) != std::string_view::npos) return 1;
  const auto digits = [&](std::size_t start, std::size_t count, int base) {
    if (behind.size() < start + count) return false;
    return std::all_of(behind.begin() + static_cast<std::ptrdiff_t>(start),
                       behind.begin() + static_cast<std::ptrdiff_t>(start + count),
                       [&](char c) { return HexDigit(c) >= 0 && HexDigit(c) < base; });
  };
  if (behind[0] == 'x' && digits(1, 2, 16)) return 3;
  if (behind[0] == 'u' && digits(1, 4, 16)) return 5;
  if (behind[0] == 'U' && digits(1, 8, 16)) return 9;
  if (behind[0] <= '3' && digits(0, 3, 8)) return 3;
  return std::nullopt;
}

bool CanBeUnquoted(std::string_view quoted) {
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '\n') return false;
    if (quoted[i] != '\\') continue;
    const auto length = EscapeLength(quoted.substr(i + 1));
    if (!length) return false;
    i += *length;
  }
  return true;
}

// The parts of a data URL: "data:" [type "/" subtype] *(";" name "=" value) [";base64"] "," data.
struct Parts {
  std::string problem;  // Empty if the URL is valid.
  bool base64 = false;
  std::string_view data;
};

class Splitter {
 public:
  explicit Splitter(std::string_view url) : url_(url) {}

  Parts Split() {
    Parts parts;
    parts.problem = ReadHeader(parts.base64);
    if (!parts.problem.empty()) return parts;
    parts.data = url_.substr(at_);
    parts.problem = DataProblem(parts);
    return parts;
  }

 private:
  bool AtEnd() const { return at_ == url_.size(); }
  char Peek() const { return url_[at_]; }

  // Skips a token, and returns the byte behind it, or nullopt at the end.
  std::optional<char> SkipToken() {
    while (!AtEnd() && In(kIsToken, Peek())) ++at_;
    if (AtEnd()) return std::nullopt;
    return Peek();
  }

  // The functions below read a part of the URL, and return its problem, or "" if the part is valid.
  std::string ReadHeader(bool& base64) {
    if (!url_.starts_with(kPrefix)) return "missing data prefix";
    at_ = kPrefix.size();
    if (AtEnd()) return "missing comma before data";
    if (Peek() != ';' && Peek() != ',') {
      if (std::string problem = ReadMediaType(); !problem.empty()) return problem;
    }
    while (Peek() == ';') {
      ++at_;
      if (std::string problem = ReadParameter(base64); !problem.empty()) return problem;
    }
    ++at_;  // The comma.
    return "";
  }

  std::string ReadMediaType() {
    const std::size_t start = at_;
    if (!In(kIsToken, Peek())) return "invalid character after data prefix";
    const auto end = SkipToken();
    if (!end) return "missing media type slash";
    if (*end != '/') return "invalid character for media type";
    if (!IsMediaType(url_.substr(start, at_ - start))) return "invalid media type";
    ++at_;
    const auto behind = SkipToken();
    if (!behind) return "incomplete media type";
    if (*behind != ';' && *behind != ',') return "invalid character for media subtype";
    return "";
  }

  static bool IsMediaType(std::string_view type) {
    if (type.starts_with("x-") || type.starts_with("X-")) return true;
    constexpr std::array kTypes = {"text", "image", "audio", "video", "application", "message", "multipart"};
    return std::any_of(kTypes.begin(), kTypes.end(), [&](const char* known) { return type.starts_with(known); });
  }

  // Reads a parameter, up to the semicolon or comma behind it.
  std::string ReadParameter(bool& base64) {
    if (AtEnd() || Peek() == '=' || Peek() == ',') return "unterminated parameter sequence";
    const std::size_t start = at_;
    const auto end = SkipToken();
    if (!end) return "unterminated parameter sequence";
    if (*end == ',') {
      const std::string_view encoding = url_.substr(start, at_ - start);
      if (encoding != "base64") return "expected base64, got another encoding";
      base64 = true;
      return "";
    }
    if (*end != '=') return "invalid character for parameter attribute";
    ++at_;
    return !AtEnd() && Peek() == '"' ? ReadQuotedValue() : ReadPlainValue();
  }

  std::string ReadPlainValue() {
    if (AtEnd()) return "missing comma before data";
    const std::size_t start = at_;
    const auto end = SkipToken();
    if (at_ == start) return "invalid character for parameter value";
    if (!end) return "missing comma before data";
    if (*end != ';' && *end != ',') return "invalid character for parameter value";
    return EscapeProblem(url_.substr(start, at_ - start));
  }

  std::string ReadQuotedValue() {
    const std::size_t start = ++at_;
    for (;; ++at_) {
      if (AtEnd()) return "unclosed quoted string";
      if (Peek() == '"') break;
      if (Peek() == '\\') {
        if (++at_ == url_.size()) return "unclosed quoted string";
        if (static_cast<unsigned char>(Peek()) >= 0x80) return "invalid escaped character";
      } else if (static_cast<unsigned char>(Peek()) >= 0x80) {
        return "invalid character for parameter value";
      }
    }
    if (!CanBeUnquoted(url_.substr(start, at_ - start))) return "invalid syntax";
    ++at_;
    if (AtEnd()) return "missing comma before data";
    if (Peek() != ';' && Peek() != ',') return "expected semicolon or comma";
    return "";
  }

  static std::string DataProblem(const Parts& parts) {
    if (!AllIn(parts.base64 ? kIsBase64 : kIsData, parts.data)) return "invalid data character";
    if (!parts.base64) return EscapeProblem(parts.data);
    const auto problem = FindBase64Problem(parts.data);
    return problem ? fmt::format("illegal base64 data at input byte {}", *problem) : "";
  }

  std::string_view url_;
  std::size_t at_ = 0;
};

// The amount of text that is decoded at a time, a multiple of the four letters of a base64 group.
constexpr std::size_t kTextPiece = 64 << 10;

// Returns the size of the next piece of an escaped text, which must not end within an escape sequence.
std::size_t NextPieceSize(std::string_view text) {
  const std::size_t count = std::min(text.size(), kTextPiece);
  const std::size_t last = text.substr(0, count).rfind('%');
  return last != std::string_view::npos && count < text.size() && last + 2 >= count ? last : count;
}

std::string UnescapeData(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      bytes += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

}  // namespace

std::string DataUrlProblem(std::string_view url) { return Splitter(url).Split().problem; }

Result<std::string> DecodeDataUrl(std::string_view url) {
  const Parts parts = Splitter(url).Split();
  if (!parts.problem.empty()) return Error(ErrorKind::kInvalid, "not a data URL: " + parts.problem);
  if (!parts.base64) return UnescapeData(parts.data);
  return DecodeBase64(parts.data).value_or("");
}

Result<> WalkDataUrl(std::string_view url, const TakePiece& take) {
  const Parts parts = Splitter(url).Split();
  if (!parts.problem.empty()) return Error(ErrorKind::kInvalid, "not a data URL: " + parts.problem);
  // The data has no line breaks, so each group of four letters can be decoded by itself.
  for (std::string_view remaining = parts.data; !remaining.empty();) {
    const std::string_view text = remaining.substr(0, parts.base64 ? kTextPiece : NextPieceSize(remaining));
    remaining.remove_prefix(text.size());
    const std::string piece = parts.base64 ? DecodeBase64(text).value_or("") : UnescapeData(text);
    if (!TRY(take(piece))) return {};
  }
  return {};
}

std::string EncodeDataUrl(std::string_view bytes) {
  constexpr auto kIsPlain = PrintableBut("\"#$%&+,/:;<=>?@[\\]^`{|}");
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string url = "data:,";
  url.reserve(url.size() + bytes.size());
  for (const char byte : bytes) {
    if (In(kIsPlain, byte)) {
      url += byte;
    } else {
      const auto value = static_cast<unsigned char>(byte);
      url += {'%', kDigits[value >> 4], kDigits[value & 0xf]};
    }
  }
  return url;
}

}  // namespace pintle::ignition
