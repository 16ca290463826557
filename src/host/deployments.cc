// SPDX-License-Identifier: Apache-2.0
#include "host/deployments.h"

#include <fmt/core.h>

namespace pintle::host {
namespace {

constexpr const char* kFinalizer = "ostree-finalize-staged.service";

}  // namespace

Result<> AwaitFinalizer(Systemd& systemd, std::chrono::milliseconds patience) {
  const auto doing = [] { return "making sure that the staged deployment will be finalized"; };
  if (TRY(systemd.Observe(kFinalizer), doing()).active_state == "active") return {};
  // Starting it does no harm where a path unit is about to do the same.
  TRY(systemd.Run(JobKind::kStart, kFinalizer, patience), doing());
  const UnitStatus status = TRY(systemd.Observe(kFinalizer), doing());
  if (status.active_state == "active") return {};
  return Error(ErrorKind::kSystem, fmt::format("{} is {} ({})", kFinalizer, status.active_state, status.load_state))
      .While(doing());
}

}  // namespace pintle::host
