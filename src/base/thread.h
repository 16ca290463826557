// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts threads.
//
// The constructor of std::thread throws when there can be no more threads, which would end a program that does not
// catch exceptions.  So all threads are started here.

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace pintle {

// Blocks all signals for the thread that made it, while it lives, and for good in the threads started meanwhile:
// signals are for the loop.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked();
  ~AllSignalsBlocked();
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Makes an error that names the limits.
Error CannotStartThread(int errno_value);

// `work` may hold objects that can only be moved.
template <typename Work>
Result<std::thread> StartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& failure) {
    return CannotStartThread(failure.code().value());
  }
}

}  // namespace pintle
