// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints the progress of a change for someone who waits.
//
// On a terminal, an activity whose progress is known has a line that is redrawn in place.  Any other activity gets a
// line when it has taken a second.  If standard error is not a terminal, only activities whose progress is known get
// lines, and only a few.

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

  // Prints or draws a line about the activity, if one is due.
  void Update(const host::ActivityProgress& activity);
  // Returns a function that calls Update(); it must not outlive this object.
  change::Progress progress() {
    return [this](const host::ActivityProgress& activity) { Update(activity); };
  }

 private:
  // Starts the thread that prints the name of an activity after a second; EndWatch() ends the thread.
  void StartWatch(const std::string& doing);
  void Draw(const std::string& line);
  void Erase();
  void EndWatch();
  void Stop();

  bool is_terminal_;
  LineForEachTenth tenths_;
  std::size_t drawn_ = 0;  // The columns of the line that is drawn in place, without an end of line.
  UniqueFd stop_;          // Closing this end of the pipe ends the thread.
  std::thread watch_;      // Prints the name of an activity that has taken a second.
};

}  // namespace pintle::ctl
