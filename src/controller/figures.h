// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the leading replica counts, out of what it keeps.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/metrics.h"
#include "controller/rosters.h"
#include "controller/view.h"

namespace pintle::controller {

// `pause_of` may answer nullptr.
std::vector<PoolFigures> FiguresOf(const View& view, const Rosters& rosters,
                                   const std::map<std::string, bool, std::less<>>& image_overridden,
                                   const std::function<const PauseReport*(const std::string& pool)>& pause_of);

// Whether the administrator has switched off that boot images are kept fresh, where there are any to keep.
bool AllowsOldBootImages(const View& view);

// By node of a pool of masters: whether a custom pool selects it as well.
std::map<std::string, bool> AlertsOf(const Rosters& rosters);

}  // namespace pintle::controller
