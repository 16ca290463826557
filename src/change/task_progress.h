// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports the progress of rpm-ostree and libostree as the progress of one activity.

#include <string>
#include <utility>

#include "change/apply.h"
#include "host/ostree/activity_progress.h"
#include "host/ostree/deployments.h"

namespace pintle::change {

// While this object lives, `doing` is reported as the current activity, with the part of it that is done.
class TaskProgress {
 public:
  TaskProgress(host::Deployments& deployments, const Progress& progress, std::string doing)
      : deployments_(deployments) {
    if (!progress) return;
    progress({doing});
    deployments_.SetProgressCallback(
        [progress, last = host::ActivityProgress{std::move(doing)}](host::ActivityProgress reported) mutable {
          reported.doing = last.doing;
          if (reported == last) return;
          last = std::move(reported);
          progress(last);
        });
  }
  ~TaskProgress() { deployments_.SetProgressCallback({}); }
  TaskProgress(const TaskProgress&) = delete;
  TaskProgress& operator=(const TaskProgress&) = delete;

 private:
  host::Deployments& deployments_;
};

}  // namespace pintle::change
