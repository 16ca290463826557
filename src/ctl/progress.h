// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is being done, for someone who waits at a terminal: a line for all that takes longer than a second.

#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"
#include "change/apply.h"

namespace pintle::ctl {

class ProgressLines {
 public:
  ProgressLines();
  ~ProgressLines() { Stop(); }
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

  void Begin(std::string_view doing);
  change::Progress progress() {
    return [this](std::string_view doing) { Begin(doing); };
  }

 private:
  void Stop();

  bool is_terminal_;
  UniqueFd stop_;  // Closing it ends the thread.
  std::thread watch_;
};

}  // namespace pintle::ctl
