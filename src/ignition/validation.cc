// SPDX-License-Identifier: Apache-2.0
#include "ignition/validation.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>

#include "base/ascii.h"

namespace pintle::ignition::internal {

bool IsGuid(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.empty()) return true;
  return std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), [](char c, char form) {
    if (form == '-') return c == '-';
    return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

bool IsSameVersion(std::string_view text, std::string_view version) {
  if (text.ends_with('+')) text.remove_suffix(1);
  if (text.ends_with('-')) text.remove_suffix(1);
  for (const char c : version) {
    // Each number of a known version has one digit.
    if (c != '.') text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    if (c == '0') continue;
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
  }
  return text.empty();
}

std::string_view FilesystemLabelProblem(std::string_view format, std::string_view label) {
  struct Limit {
    std::string_view format;
    std::size_t bytes;
    std::string_view problem;
  };
  constexpr std::array kLimits = {
      Limit{"ext4", 16, "filesystem labels cannot be longer than 16 characters when using ext4"},
      Limit{"btrfs", 256, "filesystem labels cannot be longer than 256 characters when using btrfs"},
      Limit{"xfs", 12, "filesystem labels cannot be longer than 12 characters when using xfs"},
      Limit{"swap", 15, "filesystem labels cannot be longer than 15 characters when using swap"},
      Limit{"vfat", 11, "filesystem labels cannot be longer than 11 characters when using vfat"},
  };
  if (format.empty()) return "filesystem must specify format if label is specified";
  for (const Limit& limit : kLimits) {
    if (limit.format == format) return label.size() > limit.bytes ? limit.problem : "";
  }
  return "";
}

std::string_view RaidLevelProblem(std::string_view level, std::int64_t spares) {
  constexpr std::array kWithoutSpares = {"linear", "raid0", "0", "stripe"};
  constexpr std::array kWithSpares = {"raid1", "1", "mirror", "raid4", "4", "raid5", "5", "raid6", "6", "raid10", "10"};
  if (std::find(kWithoutSpares.begin(), kWithoutSpares.end(), level) != kWithoutSpares.end()) {
    return spares != 0 ? "spares unsupported for linear and raid0 arrays" : "";
  }
  if (std::find(kWithSpares.begin(), kWithSpares.end(), level) != kWithSpares.end()) return "";
  return "unrecognized raid level";
}

namespace {

// A negative size makes an extent that ends before it starts, so none of these conditions is redundant.
bool Overlap(const Extent& a, const Extent& b) {
  const auto is_in_b = [&](std::int64_t place) { return place >= b.start && place <= b.end; };
  return is_in_b(a.start) || is_in_b(a.end) || (a.start < b.start && a.end > b.end);
}

// Returns whether Overlap() is true for any two of the extents, without comparing all pairs.
bool AnyOverlap(const std::vector<Extent>& extents) {
  std::vector<Extent> forward, reversed;
  std::partition_copy(extents.begin(), extents.end(), std::back_inserter(reversed), std::back_inserter(forward),
                      [](const Extent& extent) { return extent.end < extent.start; });
  // If any two forward extents overlap, so do two that are neighbours in the order of their starts.
  std::sort(forward.begin(), forward.end(), [](const Extent& a, const Extent& b) { return a.start < b.start; });
  const auto meet = [](const Extent& a, const Extent& b) { return b.start <= a.end; };
  if (std::adjacent_find(forward.begin(), forward.end(), meet) != forward.end()) return true;
  // A reversed extent overlaps a forward one if the forward one has any place between the end and the start of the
  // reversed one.  Since no forward extents overlap each other, the order of their starts is also the order of their
  // ends.
  for (const Extent& tested : reversed) {
    const auto next = std::lower_bound(forward.begin(), forward.end(), tested.end,
                                       [](const Extent& extent, std::int64_t place) { return extent.end < place; });
    if (next != forward.end() && next->start <= tested.start) return true;
  }
  // Two reversed extents overlap if one of them begins and ends inside the other.
  std::sort(reversed.begin(), reversed.end(),
            [](const Extent& a, const Extent& b) { return std::tie(a.end, a.start) < std::tie(b.end, b.start); });
  std::int64_t highest_start = std::numeric_limits<std::int64_t>::min();
  for (const Extent& tested : reversed) {
    if (tested.start < highest_start) return true;
    highest_start = tested.start;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> FindOverlap(const std::vector<Extent>& extents) {
  // Comparing all pairs is fast enough only for the few extents that a disk has.  If there are more than kFew,
  // AnyOverlap() decides whether two overlap.  Then only the first kFew are compared with all extents; if none of them
  // overlaps another, the index of the last extent is returned.
  constexpr std::size_t kFew = 1000;
  if (extents.size() > kFew && !AnyOverlap(extents)) return std::nullopt;
  for (const Extent& a : std::span(extents).first(std::min(extents.size(), kFew))) {
    for (const Extent& b : extents) {
      if (a.index != b.index && Overlap(a, b)) return b.index;
    }
  }
  if (extents.size() > kFew) return extents.back().index;
  return std::nullopt;
}

}  // namespace pintle::ignition::internal
