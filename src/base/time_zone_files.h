// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads time zones by their names in the IANA database, such as "Europe/Berlin", from the system's tzdata.

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "base/time_zone.h"

namespace pintle {

// Each zone is read once and kept, since a program uses only a few of them.
class TimeZoneFiles {
 public:
  static constexpr const char* kDirectory = "/usr/share/zoneinfo";

  // Reads files below the directory `root`, which is usually "/".  The directory is opened only when a zone is read.
  explicit TimeZoneFiles(std::string root = "/") : root_(std::move(root)) {}

  // Returns the zone of this name.  "UTC" needs no file.
  Result<std::shared_ptr<const TimeZone>> Find(const std::string& name);

 private:
  Result<TimeZone> Read(const std::string& name) const;

  std::string root_;
  std::map<std::string, std::shared_ptr<const TimeZone>> known_;
};

}  // namespace pintle
