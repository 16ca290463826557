// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the reports of all paused pools, and makes a report again when its inputs have changed.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "controller/pause_report.h"
#include "controller/rosters.h"
#include "controller/view.h"

namespace pintle::controller {

class PauseWatch {
 public:
  // Returns the configs that have to be compared for pools that are paused or still have the condition.
  std::set<std::string> ConfigsToCompare(const View& view, const Rosters& rosters) const;

  // Makes the reports of the pools whose configs to compare are all settled: each has been read, or cannot be read.
  using IsSettled = std::function<bool(const std::string& config)>;
  void Look(const View& view, const Rosters& rosters, const WholeConfigs& configs, const IsSettled& is_settled,
            WallTime now);

  // Returns nullptr if the pool is not paused and has no condition from a pause, or if the report is not known yet.
  const PauseReport* ReportOf(const std::string& pool) const;
  // Returns whether the pool has to be left alone until its report is known.
  bool IsUnknown(const std::string& pool) const { return unknown_.contains(pool); }
  // Returns when a report changes only because time passes, if one will.
  std::optional<WallTime> NextChange(WallTime now) const;

  void Clear();

 private:
  struct Entry {
    std::string key;
    PauseReport report;
  };

  std::map<std::string, Entry> known_;
  std::set<std::string> unknown_;
};

}  // namespace pintle::controller
