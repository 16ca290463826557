// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints the progress of a change for someone who waits.
//
// On a terminal, each activity that takes longer than a second gets a line.  If its progress is known, the line is
// redrawn in place.  Other outputs get a few lines, and only for activities whose progress is known.

#include <cstddef>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "change/apply.h"
#include "ctl/progress_text.h"
#include "host/ostree/activity_progress.h"

namespace pintle::ctl {

class ProgressLines {
 public:
  ProgressLines();
  ~ProgressLines() { Stop(); }
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

  void Take(const host::ActivityProgress& how_far);
  change::Progress progress() {
    return [this](const host::ActivityProgress& how_far) { Take(how_far); };
  }

 private:
  void StartWatch(const std::string& doing);
  void Draw(const std::string& line);
  void Erase();
  void EndWatch();
  void Stop();

  bool is_terminal_;
  LineForEachTenth tenths_;
  std::size_t drawn_ = 0;  // The columns of the line that is drawn in place, without an end of line.
  UniqueFd stop_;          // Closing this end of the pipe ends the thread.
  std::thread watch_;
};

}  // namespace pintle::ctl
