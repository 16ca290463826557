// SPDX-License-Identifier: Apache-2.0
#pragma once

// Injects faults at every system call that changes a file tree.
//
// A program that links faults.cc has its own write(), renameat() and so on in front of the C library's.  They count
// their calls.  At the chosen call they end the process as a kill would, fail as on a full or broken disk, write one
// byte only, or call a function of the test.  The code under test is unchanged.

#include <functional>

namespace pintle::crash {

enum class FaultKind {
  kExit,        // The process ends before the call is made.
  kError,       // The call fails with an errno.
  kShortWrite,  // A write writes one byte only.  Other calls are not affected.
  kDiskFull,    // From this call on, until EndFault(), all calls that need more space on the disk fail.
  kMeanwhile,   // The function `meanwhile` is called before the call is made.
};

struct Fault {
  int at = 0;  // The number of the call, counted from 1; 0 for no fault.
  FaultKind kind = FaultKind::kExit;
  int errno_value = 0;
  bool lasts = false;  // All later calls fail, too, until EndFault().
  std::function<void()> meanwhile = {};
  bool cannot_exchange = false;  // The file system cannot exchange two names, whether there is a fault or not.
};

// Returns a fault that ends the process before this call.
inline Fault CutAt(int call) { return {.at = call, .kind = FaultKind::kExit, .errno_value = 0, .meanwhile = {}}; }

enum class Ending { kSucceeded, kFailed, kCutShort };

struct History {
  Ending ending;
  bool fault_met;  // The fault occurred during the operation.
};

// Runs an operation in a process of its own with this fault; the operation returns whether it succeeded.
History RunWith(const Fault& fault, const std::function<bool()>& operation);

// ---- in the process of RunWith() ------------------------------------------------------------------------------------

// Ends a fault that lasts.
void EndFault();
// Returns whether EndFault() was called.
bool IsFaultOver();

// Counts a call, for a fake that has no system calls of its own; returns false if the call has to fail.
bool CountCallOfFake();

// During its lifetime, calls are neither counted nor refused, for actions of the test itself.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace pintle::crash
