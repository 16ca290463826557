// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reports of all paused pools, each made anew when something that it says may have changed.

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
  // The configs that have to be compared for the pools that are paused, or were when their status was written.
  std::set<std::string> ConfigsToCompare(const View& view, const Rosters& rosters) const;

  // Of each of these pools of which all configs are here, as far as they are to be had.
  using IsSettled = std::function<bool(const std::string& config)>;
  void Look(const View& view, const Rosters& rosters, const WholeConfigs& configs, const IsSettled& is_settled,
            WallTime now);

  // nullptr: the pool is not paused and was not, or it is not known yet what waits.
  const PauseReport* ReportOf(const std::string& pool) const;
  // Whether the pool has to be left alone until it is known.
  bool IsUnknown(const std::string& pool) const { return unknown_.contains(pool); }
  // When a report will say something else by itself.
  std::optional<WallTime> NextWord(WallTime now) const;

  void Clear();

 private:
  struct Known {
    std::string key;
    PauseReport report;
  };

  std::map<std::string, Known> known_;
  std::set<std::string> unknown_;
};

}  // namespace pintle::controller
