// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

namespace pintle {

AllSignalsBlocked::AllSignalsBlocked() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

AllSignalsBlocked::~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

Error CannotStartThread(int errno_value) {
  return Error::FromErrno(
      "starting a thread (check the limits TasksMax= of the service, ulimit -u and kernel.threads-max)", errno_value);
}

}  // namespace pintle
