// SPDX-License-Identifier: Apache-2.0
#include "host/pause.h"

namespace pintle::host {

Result<bool> IsPaused(const Root& root) {
  return TRY(root.Status(kPauseFile), "checking whether changes are paused").has_value();
}

Result<> Pause(const Root& root) {
  constexpr std::string_view kDoing = "pausing changes";
  TRY(root.MakeDirectories(kPauseDirectory), kDoing);
  TRY(root.WriteFile(kPauseFile, "Pintle changes nothing while this file is here; `pintle resume` removes it.\n"),
      kDoing);
  return {};
}

Result<> Resume(const Root& root) {
  TRY(root.Remove(kPauseFile), "resuming changes");
  return {};
}

}  // namespace pintle::host
