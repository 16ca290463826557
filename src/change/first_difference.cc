// SPDX-License-Identifier: Apache-2.0
#include "change/first_difference.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "base/utf8.h"
#include "change/masking.h"
#include "host/pieces.h"

namespace pintle::change {
namespace {

// Of a line that is longer, the beginning is looked at, and less is shown.
constexpr std::size_t kMostOfLine = 64 << 10;
constexpr std::size_t kMostShown = 120;

struct File {
  UniqueFd fd;
  std::size_t size = 0;
};

Result<File> Open(const Root& root, const std::string& path) {
  File file;
  // O_NONBLOCK, so that a named pipe in the place of a file cannot hold us up.
  file.fd = TRY(root.OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (::fstat(file.fd.get(), &status) != 0) return Error::FromErrno("fstat");
  if (!S_ISREG(status.st_mode)) return Error(ErrorKind::kInvalid, "not a regular file");
  file.size = static_cast<std::size_t>(status.st_size);
  return file;
}

// How many bytes are equal from the beginning; nothing if all are.
Result<std::optional<std::size_t>> EqualBytes(const File& file, std::string_view expected) {
  host::Pieces pieces(file.fd.get(), file.size);
  std::size_t at = 0;
  for (;;) {
    const std::string_view piece = TRY(pieces.Next());
    if (piece.empty()) break;
    const std::string_view rest = expected.substr(at, piece.size());
    const auto differs = std::mismatch(rest.begin(), rest.end(), piece.begin());
    at += static_cast<std::size_t>(differs.first - rest.begin());
    if (rest.size() < piece.size() || differs.first != rest.end()) return at;
  }
  return at == expected.size() ? std::nullopt : std::optional(at);
}

struct Line {
  std::string_view text;
  bool has_end = false;  // A line break.
};

// Nothing where the text ends.
std::optional<Line> LineAt(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::size_t end = text.find('\n');
  return Line{text.substr(0, std::min(end, kMostOfLine)), end != std::string_view::npos};
}

Result<std::string> ReadPart(const File& file, std::size_t offset) {
  const std::size_t length = std::min(file.size - std::min(offset, file.size), kMostOfLine + 1);
  host::Pieces pieces(file.fd.get(), length, static_cast<off_t>(offset));
  return std::string(TRY(pieces.Next()));
}

bool IsText(std::string_view bytes) {
  // A character may have been cut in two.
  std::size_t end = bytes.size();
  if (end == kMostOfLine) {
    while (end > 0 && (static_cast<unsigned char>(bytes[end - 1]) & 0xC0) == 0x80) --end;
    if (end > 0) --end;
  }
  return IsUtf8(bytes.substr(0, end)) && bytes.find('\0') == std::string_view::npos;
}

std::string Shown(const std::optional<Line>& line, LineMasker masker) {
  if (!line) return "the end";
  std::string text = Printable(masker.Next(line->text));
  if (text.size() > kMostShown) {
    std::size_t end = kMostShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    text += "...";
  }
  return fmt::format("\"{}\"", text);
}

std::string TextOf(std::size_t number, const std::optional<Line>& expected, const std::optional<Line>& is,
                   const LineMasker& masker) {
  if (expected && is && expected->text == is->text && expected->has_end != is->has_end) {
    return fmt::format("line {}: expected {} newline at its end", number, expected->has_end ? "a" : "no");
  }
  const std::string shown_expected = Shown(expected, masker);
  const std::string shown_is = Shown(is, masker);
  if (shown_expected == shown_is) return fmt::format("line {} differs in what is not shown", number);
  return fmt::format("line {}: expected {}, is {}", number, shown_expected, shown_is);
}

}  // namespace

Result<std::string> FirstDifference(const Root& root, const std::string& path, std::string_view expected) {
  const auto doing = [&] { return fmt::format("comparing {}", path); };
  const File file = TRY(Open(root, path), doing());
  const auto equal = TRY(EqualBytes(file, expected), doing());
  if (!equal) return std::string();
  if (HoldsASecret(path))
    return fmt::format("secret contents: {} bytes expected, {} there", expected.size(), file.size);
  LineMasker masker;
  std::size_t number = 1;
  std::size_t begin = 0;
  for (std::size_t end = expected.find('\n'); end < *equal; end = expected.find('\n', begin)) {
    masker.Next(expected.substr(begin, end - begin));
    begin = end + 1;
    ++number;
  }
  const std::string part = TRY(ReadPart(file, begin), doing());
  const auto line = LineAt(expected.substr(begin));
  const auto is = LineAt(part);
  if ((line && !IsText(line->text)) || (is && !IsText(is->text))) {
    return fmt::format("binary contents, {} bytes expected, {} there, equal up to byte {}", expected.size(), file.size,
                       *equal);
  }
  return TextOf(number, line, is, masker);
}

}  // namespace pintle::change
