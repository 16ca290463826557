// SPDX-License-Identifier: Apache-2.0
#include "base/time_zone_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/ascii.h"

namespace pintle {
namespace {

// The largest file of tzdata has 4 KiB.
constexpr std::size_t kLargestZone = std::size_t{64} << 10;

bool IsZoneName(std::string_view name) {
  const auto is_allowed = [](char c) {
    return IsLetterOrDigit(c) || std::string_view("/_+-").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= 100 && name.front() != '/' && name.back() != '/' &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace

Result<TimeZone> TimeZoneFiles::Read(const std::string& name) const {
  const Root root = TRY(Root::Open(root_));
  const std::string contents = TRY(root.ReadFile(fmt::format("{}/{}", kDirectory, name), kLargestZone));
  return TimeZone::Parse(contents);
}

Result<std::shared_ptr<const TimeZone>> TimeZoneFiles::Find(const std::string& name) {
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  if (!IsZoneName(name)) {
    return Error(
        ErrorKind::kInvalid,
        fmt::format("\"{}\" is not the name of a time zone; write a name such as Europe/Berlin, or UTC", name));
  }
  if (name == "UTC") return known_[name] = std::make_shared<const TimeZone>();
  auto zone = Read(name);
  if (!zone) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("the time zone \"{}\" cannot be read from {}: {}; write a name such as Europe/Berlin, and "
                             "install the package tzdata on this machine or, in a cluster, where the controller runs",
                             name, kDirectory, zone.error().message()));
  }
  return known_[name] = std::make_shared<const TimeZone>(*std::move(zone));
}

}  // namespace pintle
