// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads of our own.
//
// std::thread throws when there can be no more of them, and a program that does not throw would end there.  So threads
// are started here only.

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace pintle {

// While one of these lives, the thread that made it takes no signals, and those that it starts never do: signals are
// for the loop.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked();
  ~AllSignalsBlocked();
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Says which limits there are.
Error CannotStartThread(int errno_value);

// A thread that does `work`, which may hold what can only be moved.
template <typename Work>
Result<std::thread> StartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& failure) {
    return CannotStartThread(failure.code().value());
  }
}

}  // namespace pintle
