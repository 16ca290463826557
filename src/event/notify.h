// SPDX-License-Identifier: Apache-2.0
#pragma once

// Telling systemd how a service of ours is doing (Type=notify).  Where nobody asked to be told, these do nothing.

#include <string_view>

#include "base/result.h"

namespace pintle::event {

// The service has started: what waits for it may go on.
Result<> NotifyReady();
// The service is about to end.
Result<> NotifyStopping();
// One line for people, which `systemctl status` shows.
Result<> NotifyStatus(std::string_view status);

}  // namespace pintle::event
