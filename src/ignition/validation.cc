// SPDX-License-Identifier: Apache-2.0
#include "ignition/validation.h"

#include <array>

namespace pintle::ignition::internal {

bool IsGuid(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.empty()) return true;
  return std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), [](char c, char form) {
    if (form == '-') return c == '-';
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
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
  constexpr std::array kOthers = {"raid1", "1", "mirror", "raid4", "4", "raid5", "5", "raid6", "6", "raid10", "10"};
  if (std::find(kWithoutSpares.begin(), kWithoutSpares.end(), level) != kWithoutSpares.end()) {
    return spares != 0 ? "spares unsupported for linear and raid0 arrays" : "";
  }
  if (std::find(kOthers.begin(), kOthers.end(), level) != kOthers.end()) return "";
  return "unrecognized raid level";
}

std::optional<std::size_t> FindOverlap(std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.start < b.start; });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    Extent& before = extents[i - 1];
    if (extents[i].start <= before.end) return std::max(extents[i].index, before.index);
  }
  return std::nullopt;
}

}  // namespace pintle::ignition::internal
