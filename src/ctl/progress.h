// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is being done, for someone who waits.
//
// At a terminal there is a line for all that takes longer than a second, and one that is drawn anew in its place each
// time it is known how far that is.  Elsewhere there are lines for how far it is only, and few of them.

#include <cstddef>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "change/apply.h"
#include "ctl/progress_text.h"
#include "host/how_far.h"

namespace pintle::ctl {

class ProgressLines {
 public:
  ProgressLines();
  ~ProgressLines() { Stop(); }
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

  void Take(const host::HowFar& how_far);
  change::Progress progress() {
    return [this](const host::HowFar& how_far) { Take(how_far); };
  }

 private:
  void TellInAWhile(const std::string& doing);
  void Draw(const std::string& line);
  void Erase();
  void EndWatch();
  void Stop();

  bool is_terminal_;
  TenthLines tenths_;
  std::size_t drawn_ = 0;  // The columns of what is drawn in place; it has no end of line.
  UniqueFd stop_;          // Closing it ends the thread.
  std::thread watch_;
};

}  // namespace pintle::ctl
