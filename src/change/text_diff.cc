// SPDX-License-Identifier: Apache-2.0
#include "change/text_diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "base/printable.h"
#include "change/masking.h"

namespace pintle::change {
namespace {

using Lines = std::vector<std::string_view>;
// Equal lines have equal numbers, so that long lines are compared once.
using Numbers = std::vector<std::size_t>;

constexpr std::size_t kContext = 3;
// If the texts differ in more lines, all lines between their equal beginnings and ends count as replaced, because the
// time of the search grows with the square of this number.
constexpr std::ptrdiff_t kMostChanges = 2000;

enum class Edit { kKeep, kRemove, kAdd };

// Finds the shortest list of edits by Myers' greedy search.
class Search {
 public:
  Search(const Numbers& from, const Numbers& to) : from_(from), to_(to) {}

  std::vector<Edit> Edits() {
    const auto rows = static_cast<std::ptrdiff_t>(from_.size());
    const auto columns = static_cast<std::ptrdiff_t>(to_.size());
    const std::ptrdiff_t max_changes = std::min(rows + columns, kMostChanges);
    // The diagonals from -max_changes to max_changes, and one more on each side.
    furthest_.assign(static_cast<std::size_t>(2 * max_changes + 3), 0);
    middle_ = max_changes + 1;
    for (std::ptrdiff_t changes = 0; changes <= max_changes; ++changes) {
      history_.push_back(furthest_);
      for (std::ptrdiff_t k = -changes; k <= changes; k += 2) {
        std::ptrdiff_t x = StartOn(k, changes);
        std::ptrdiff_t y = x - k;
        while (x < rows && y < columns && Same(x, y)) {
          ++x;
          ++y;
        }
        At(furthest_, k) = x;
        if (x >= rows && y >= columns) return TraceBack(changes);
      }
    }
    return Replaced();
  }

 private:
  using Row = std::vector<std::ptrdiff_t>;

  bool Same(std::ptrdiff_t x, std::ptrdiff_t y) const {
    return from_[static_cast<std::size_t>(x)] == to_[static_cast<std::size_t>(y)];
  }
  std::ptrdiff_t& At(Row& row, std::ptrdiff_t k) const { return row[static_cast<std::size_t>(middle_ + k)]; }

  // Returns whether the furthest path on the diagonal k comes from the diagonal k + 1, by adding a line.
  bool ComesFromAbove(Row& row, std::ptrdiff_t k, std::ptrdiff_t changes) const {
    return k == -changes || (k != changes && At(row, k - 1) < At(row, k + 1));
  }
  std::ptrdiff_t StartOn(std::ptrdiff_t k, std::ptrdiff_t changes) {
    if (changes == 0) return 0;
    return ComesFromAbove(furthest_, k, changes) ? At(furthest_, k + 1) : At(furthest_, k - 1) + 1;
  }

  std::vector<Edit> TraceBack(std::ptrdiff_t changes) {
    std::vector<Edit> edits;
    auto x = static_cast<std::ptrdiff_t>(from_.size());
    auto y = static_cast<std::ptrdiff_t>(to_.size());
    for (; changes > 0; --changes) {
      Row& row = history_[static_cast<std::size_t>(changes)];
      const std::ptrdiff_t k = x - y;
      const bool added = ComesFromAbove(row, k, changes);
      const std::ptrdiff_t previous_k = added ? k + 1 : k - 1;
      const std::ptrdiff_t previous_x = At(row, previous_k);
      const std::ptrdiff_t start_x = added ? previous_x : previous_x + 1;
      for (; x > start_x; --x) edits.push_back(Edit::kKeep);
      edits.push_back(added ? Edit::kAdd : Edit::kRemove);
      x = previous_x;
      y = x - previous_k;
    }
    for (; x > 0; --x) edits.push_back(Edit::kKeep);
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  // Replaces all lines between the equal lines at the beginning and at the end.
  std::vector<Edit> Replaced() const {
    const std::size_t shorter = std::min(from_.size(), to_.size());
    std::size_t before = 0;
    while (before < shorter && from_[before] == to_[before]) ++before;
    std::size_t behind = 0;
    while (behind < shorter - before && from_[from_.size() - 1 - behind] == to_[to_.size() - 1 - behind]) ++behind;
    std::vector<Edit> edits(before, Edit::kKeep);
    edits.insert(edits.end(), from_.size() - before - behind, Edit::kRemove);
    edits.insert(edits.end(), to_.size() - before - behind, Edit::kAdd);
    edits.insert(edits.end(), behind, Edit::kKeep);
    return edits;
  }

  const Numbers& from_;
  const Numbers& to_;
  Row furthest_;               // For each diagonal k = x - y, the greatest x that was reached on it.
  std::vector<Row> history_;   // For each number of changes, `furthest_` before the search with this number.
  std::ptrdiff_t middle_ = 0;  // The index of the diagonal 0 in a row.
};

// Returns the numbers of the lines.  A line that is not in `known` gets the next free number.
Numbers Numbered(const Lines& lines, std::unordered_map<std::string_view, std::size_t>& known) {
  Numbers numbers;
  numbers.reserve(lines.size());
  for (const std::string_view line : lines) numbers.push_back(known.emplace(line, known.size()).first->second);
  return numbers;
}

std::vector<Edit> EditsBetween(const Lines& from, const Lines& to) {
  std::unordered_map<std::string_view, std::size_t> known;
  const Numbers from_numbers = Numbered(from, known);
  const Numbers to_numbers = Numbered(to, known);
  return Search(from_numbers, to_numbers).Edits();
}

// A stretch of edits that belong together, with the lines around them.
struct Hunk {
  std::size_t begin;
  std::size_t end;
};

std::vector<Hunk> HunksOf(const std::vector<Edit>& edits) {
  std::vector<Hunk> hunks;
  for (std::size_t at = 0; at < edits.size(); ++at) {
    if (edits[at] == Edit::kKeep) continue;
    const std::size_t begin = at - std::min(at, kContext);
    const std::size_t end = std::min(at + 1 + kContext, edits.size());
    if (!hunks.empty() && begin <= hunks.back().end) {
      hunks.back().end = end;
    } else {
      hunks.push_back({begin, end});
    }
  }
  return hunks;
}

std::string RangeText(std::size_t begin, std::size_t count) {
  if (count == 1) return fmt::format("{}", begin + 1);
  return fmt::format("{},{}", count == 0 ? begin : begin + 1, count);
}

}  // namespace

Lines LinesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string UnifiedDiff(std::string_view from, std::string_view to) {
  if (from == to) return "";
  const Lines from_lines = LinesOf(from);
  const Lines to_lines = LinesOf(to);
  const std::vector<std::string> shown_from = Masked(from_lines);
  const std::vector<std::string> shown_to = Masked(to_lines);
  const std::vector<Edit> edits = EditsBetween(from_lines, to_lines);
  std::string text;
  std::size_t at = 0;
  std::size_t x = 0;
  std::size_t y = 0;
  const auto step = [&](Edit edit) {
    if (edit != Edit::kAdd) ++x;
    if (edit != Edit::kRemove) ++y;
  };
  for (const Hunk& hunk : HunksOf(edits)) {
    for (; at < hunk.begin; ++at) step(edits[at]);
    const std::size_t first_x = x;
    const std::size_t first_y = y;
    std::string lines;
    for (; at < hunk.end; ++at) {
      const bool is_new = edits[at] == Edit::kAdd;
      const char mark = is_new ? '+' : edits[at] == Edit::kRemove ? '-' : ' ';
      lines += mark + Printable(is_new ? shown_to[y] : shown_from[x]) + "\n";
      step(edits[at]);
    }
    text += fmt::format("@@ -{} +{} @@\n{}", RangeText(first_x, x - first_x), RangeText(first_y, y - first_y), lines);
  }
  if (from.ends_with('\n') != to.ends_with('\n') && !from.empty() && !to.empty()) {
    text += fmt::format("\\ the {} has no newline at its end\n", from.ends_with('\n') ? "new one" : "old one");
  }
  return text;
}

}  // namespace pintle::change
