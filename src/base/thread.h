// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts threads.
//
// The constructor of std::thread throws when the kernel refuses to start another thread.  So all threads are started
// with StartThread(), which returns an error instead.

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace pintle {

// Blocks all signals in the current thread while this object exists.  A thread that is started meanwhile has all
// signals blocked until it ends.  This leaves the signals to the loop's thread.
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

// Starts a thread that calls `work()`.  `work` is moved, so it may hold objects that cannot be copied.  The caller must
// join or detach the thread.
template <typename Work>
Result<std::thread> StartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& failure) {
    return CannotStartThread(failure.code().value());
  }
}

}  // namespace pintle
