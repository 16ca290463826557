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
#include "controller/pool_members.h"
#include "controller/view.h"

namespace pintle::controller {

class PauseWatch {
 public:
  // Returns the configs that have to be compared for pools that are paused or still have the condition.
  std::set<std::string> ConfigsToCompare(const View& view, const PoolMembers& members) const;

  // Returns whether a config has been read, or cannot be read.
  using IsFetchDone = std::function<bool(const std::string& config)>;
  // Makes the reports of those pools for which `is_fetch_done` returns true for each config to compare.
  void Look(const View& view, const PoolMembers& members, const WholeConfigs& configs, const IsFetchDone& is_fetch_done,
            WallTime now);

  // Returns nullptr if the pool is not paused and has no condition from a pause, or if the report is not known yet.
  const PauseReport* ReportOf(const std::string& pool) const;
  // Returns whether the pool needs a report that is not known yet.  Until then, the pool has to be left alone.
  bool IsUnknown(const std::string& pool) const { return unknown_.contains(pool); }
  // Returns the next time at which the condition of a pool changes although its report stays the same, or nullopt.
  std::optional<WallTime> NextChange(WallTime now) const;

  void Clear();

 private:
  struct Entry {
    std::string key;  // Identifies the inputs of the report.
    PauseReport report;
  };

  std::map<std::string, Entry> known_;  // The key is the pool.
  std::set<std::string> unknown_;       // The pools for which IsUnknown() returns true.
};

}  // namespace pintle::controller
