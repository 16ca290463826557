// SPDX-License-Identifier: Apache-2.0
#include "change/first_difference.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/printable.h"
#include "base/unique_fd.h"
#include "base/utf8.h"
#include "change/masking.h"
#include "change/private_lines.h"
#include "host/files/directories.h"
#include "host/files/pieces.h"

namespace pintle::change {
namespace {

constexpr std::size_t kMostLineBytes = 64 << 10;   // Of a line, memory holds no more than this.
constexpr std::size_t kMostLineBytesQuoted = 120;  // Of a line, a report quotes no more than this.

struct File {
  UniqueFd fd;
  std::size_t size = 0;
  bool is_private = false;
};

Result<File> Open(const Root& root, const std::string& path) {
  File file;
  file.fd = TRY(host::OpenToRead(root, path));
  struct stat status;
  if (::fstat(file.fd.get(), &status) != 0) return Error::FromErrno("fstat");
  file.size = static_cast<std::size_t>(status.st_size);
  file.is_private = IsPrivate(status.st_mode);
  return file;
}

// Reads a file piece by piece, and compares it with expected contents.
class PieceComparer {
 public:
  explicit PieceComparer(const File& file) : pieces_(file.fd.get(), file.size) {}

  // Returns how many bytes at the beginning of `expected` equal the next bytes of the file, and skips these bytes.
  Result<std::size_t> CountEqual(std::string_view expected) {
    std::size_t count = 0;
    while (count < expected.size() && TRY(HasMore())) {
      const std::string_view part = expected.substr(count, rest_.size());
      const auto differs = std::mismatch(part.begin(), part.end(), rest_.begin());
      const auto equal = static_cast<std::size_t>(differs.first - part.begin());
      count += equal;
      rest_.remove_prefix(equal);
      if (differs.first != part.end()) break;
    }
    return count;
  }

  Result<bool> HasMore() {
    if (rest_.empty()) rest_ = TRY(pieces_.Next());
    return !rest_.empty();
  }

 private:
  host::Pieces pieces_;
  std::string_view rest_;
};

// Compares the expected contents with a file in one pass.  Finds the first difference, and the expected line there.
class ExpectedContents {
 public:
  explicit ExpectedContents(const File& file) : file_(file) {}

  Result<bool> Take(std::string_view piece) {
    size_ += piece.size();
    if (!differs_) {
      const std::size_t count = TRY(file_.CountEqual(piece));
      equal_ += count;
      SkipEqual(piece.substr(0, count));
      piece.remove_prefix(count);
      differs_ = !piece.empty();
    }
    // The rest of the line with the difference is kept.  Of the contents after it, only the size is needed.
    if (differs_ && !is_line_complete_) {
      const std::size_t end = piece.find('\n');
      has_end_ = end != std::string_view::npos;
      AppendToLine(piece.substr(0, end));
      is_line_complete_ = has_end_;
    }
    return true;
  }

  // Returns whether there is a difference.  Must be called after the last piece, since the file may be longer.
  Result<bool> End() { return differs_ || TRY(file_.HasMore()); }

  std::size_t size() const { return size_; }
  std::size_t equal() const { return equal_; }
  std::size_t line_begin() const { return line_begin_; }
  std::size_t line_number() const { return line_number_; }
  const std::string& line() const { return line_; }
  bool has_end() const { return has_end_; }
  // Returns the masker that has got all lines before the line with the difference.
  const LineMasker& masker() const { return masker_; }

 private:
  // Skips contents that are equal.  The masker gets their lines, because they may decide how the next line is masked.
  void SkipEqual(std::string_view piece) {
    for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      AppendToLine(piece.substr(0, end));
      static_cast<void>(masker_.Next(line_));
      line_.clear();
      piece.remove_prefix(end + 1);
      ++line_number_;
      passed_ += end + 1;
      line_begin_ = passed_;
    }
    AppendToLine(piece);
    passed_ += piece.size();
  }

  void AppendToLine(std::string_view part) {
    line_ += part.substr(0, kMostLineBytes - std::min(kMostLineBytes, line_.size()));
  }

  PieceComparer file_;
  LineMasker masker_;
  std::size_t size_ = 0;        // The size of all expected contents so far, in bytes.
  std::size_t equal_ = 0;       // The number of bytes before the first difference.
  std::size_t passed_ = 0;      // The number of equal bytes that SkipEqual() has got.
  std::size_t line_begin_ = 0;  // The offset of the line with the difference.
  std::size_t line_number_ = 1;
  std::string line_;  // The expected line, without its line break.
  bool differs_ = false;
  bool is_line_complete_ = false;
  bool has_end_ = false;  // The expected line ends with a line break.
};

struct Line {
  std::string_view text;
  bool has_end = false;  // The line ends with a line break.
};

// Returns nullopt at the end of the text.
std::optional<Line> LineAt(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::size_t end = text.find('\n');
  return Line{text.substr(0, std::min(end, kMostLineBytes)), end != std::string_view::npos};
}

Result<std::string> ReadPart(const File& file, std::size_t offset) {
  const std::size_t length = std::min(file.size - std::min(offset, file.size), kMostLineBytes + 1);
  host::Pieces pieces(file.fd.get(), length, static_cast<off_t>(offset));
  return std::string(TRY(pieces.Next()));
}

bool IsTextLine(std::string_view bytes) {
  // If the line was cut, the last character may be incomplete, so it is left out.
  std::size_t end = bytes.size();
  if (end == kMostLineBytes) {
    while (end > 0 && (static_cast<unsigned char>(bytes[end - 1]) & 0xC0) == 0x80) --end;
    if (end > 0) --end;
  }
  return IsUtf8(bytes.substr(0, end)) && bytes.find('\0') == std::string_view::npos;
}

// Returns a line as the report quotes it: masked and shortened.
std::string QuotedLine(const std::optional<Line>& line, LineMasker masker) {
  if (!line) return "the end";
  std::string text = Printable(masker.Next(line->text));
  if (text.size() > kMostLineBytesQuoted) {
    std::size_t end = kMostLineBytesQuoted;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    text += "...";
  }
  return fmt::format("\"{}\"", text);
}

std::string DifferenceText(std::size_t line_number, const std::optional<Line>& expected,
                           const std::optional<Line>& found, const LineMasker& masker) {
  if (expected && found && expected->text == found->text && expected->has_end != found->has_end) {
    return fmt::format("line {}: expected {} newline at its end", line_number, expected->has_end ? "a" : "no");
  }
  const std::string quoted_expected = QuotedLine(expected, masker);
  const std::string quoted_found = QuotedLine(found, masker);
  if (quoted_expected == quoted_found) return fmt::format("line {} differs in a part that is not shown", line_number);
  return fmt::format("line {}: expected {}, found {}", line_number, quoted_expected, quoted_found);
}

}  // namespace

Result<std::string> FirstDifference(const Root& root, const std::string& path, const WalkPieces& expected) {
  const auto doing = [&] { return fmt::format("comparing {}", path); };
  const File file = TRY(Open(root, path), doing());
  ExpectedContents wanted(file);
  TRY(expected([&](std::string_view piece) { return wanted.Take(piece); }), doing());
  if (!TRY(wanted.End(), doing())) return std::string();
  if (file.is_private) {
    return fmt::format("private contents differ: {} bytes expected, {} found", wanted.size(), file.size);
  }
  if (HoldsASecret(path)) {
    return fmt::format("secret contents differ: {} bytes expected, {} found", wanted.size(), file.size);
  }
  const std::string part = TRY(ReadPart(file, wanted.line_begin()), doing());
  const bool has_line = !wanted.line().empty() || wanted.has_end();
  const auto expected_line = has_line ? std::optional(Line{wanted.line(), wanted.has_end()}) : std::nullopt;
  const auto found_line = LineAt(part);
  if ((expected_line && !IsTextLine(expected_line->text)) || (found_line && !IsTextLine(found_line->text))) {
    return fmt::format("binary contents differ: {} bytes expected, {} found, equal up to byte {}", wanted.size(),
                       file.size, wanted.equal());
  }
  return DifferenceText(wanted.line_number(), expected_line, found_line, wanted.masker());
}

}  // namespace pintle::change
