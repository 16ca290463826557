// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports the progress of the deployments as parts of a larger task.

#include <string>
#include <utility>

#include "change/apply.h"
#include "host/ostree/activity_progress.h"
#include "host/ostree/deployments.h"

namespace pintle::change {

// While this object lives, `doing` is reported as the task.
class PartsTold {
 public:
  PartsTold(host::Deployments& deployments, const Progress& progress, std::string doing) : deployments_(deployments) {
    if (!progress) return;
    progress({doing});
    deployments_.SetProgressCallback(
        [progress, last = host::ActivityProgress{std::move(doing)}](host::ActivityProgress how_far) mutable {
          how_far.doing = last.doing;
          if (how_far == last) return;
          last = std::move(how_far);
          progress(last);
        });
  }
  ~PartsTold() { deployments_.SetProgressCallback({}); }
  PartsTold(const PartsTold&) = delete;
  PartsTold& operator=(const PartsTold&) = delete;

 private:
  host::Deployments& deployments_;
};

}  // namespace pintle::change
