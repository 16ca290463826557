// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts threads.
//
// The constructor of std::thread throws when the kernel refuses to start another thread.  All threads are started here,
// so that only one place has to catch the exception.

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace pintle {

// Blocks all signals in the current thread while this object exists.  Threads that are started meanwhile inherit the
// mask and keep it, so that only the loop's thread gets signals.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked();
  ~AllSignalsBlocked();
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Returns an error that names the limits on the number of threads.
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
