// SPDX-License-Identifier: Apache-2.0
#pragma once

// Faults at every system call that changes a file tree.
//
// A program that links faults.cc has its own write(), renameat() and so on in front of the C library's.  They count,
// and at the call that is asked for they end the process as a kill would, or say no as a full or broken disk would.
// What is under test runs as it is.

#include <functional>

namespace pintle::crash {

enum class FaultKind {
  kExit,        // The process is gone before the call is made.
  kError,       // The call fails with an errno.
  kShortWrite,  // A write takes one byte only.  Calls that write nothing are left alone.
  kDiskFull,    // From this call on, until EndFault(), all that takes more of the disk than it has already fails.
  kMeanwhile,   // Someone else does something before the call is made.
};

struct Fault {
  int at = 0;  // The call it happens at, counted from 1; 0: none.
  FaultKind kind = FaultKind::kExit;
  int errno_value = 0;
  bool lasts = false;  // An error that all calls meet from that one on, until EndFault().
  std::function<void()> meanwhile = {};
};

// The process ends.
inline Fault CutAt(int call) { return {.at = call, .kind = FaultKind::kExit, .errno_value = 0, .meanwhile = {}}; }

enum class Ending { kSucceeded, kFailed, kCutShort };

struct History {
  Ending ending;
  bool fault_met;  // Whether the operation got as far as the fault.
};

// Runs an operation, which says whether it succeeded, in a process of its own with this fault.
History RunWith(const Fault& fault, const std::function<bool()>& operation);

// ---- in that process ------------------------------------------------------------------------------------------------

// The fault is over.
void EndFault();
bool IsFaultOver();

// Counts as a call of whatever a fake stands for; false: it is refused.
bool Call();

// While this lives, calls are neither counted nor refused: a test does something of its own.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace pintle::crash
