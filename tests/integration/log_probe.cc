// SPDX-License-Identifier: Apache-2.0

// A service that logs one entry of each kind; test_journal.py searches a real journal for them.
//
// With --stay it waits for SIGTERM: the journal asks the kernel for the unit of an entry's sender, and learns nothing
// about a process that has ended.

#include <unistd.h>

#include <string_view>

#include "base/log.h"

int main(int argc, char** argv) {
  namespace log = pintle::log;
  constexpr log::MessageId kProbe("5ee1f7c1e2f04f5a8f0a2b8c6d1e9f30");
  log::Warning("the probe is careful", kProbe, {{"PINTLE_UNIT", "a.service"}, {"PINTLE_DIFF", "one\ntwo"}});
  log::Info("the probe is done");
  log::Debug("nobody asked");
  if (argc > 1 && std::string_view(argv[1]) == "--stay") pause();
}
