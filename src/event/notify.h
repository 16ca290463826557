// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notifies systemd of the state of a service (Type=notify).  These functions do nothing if no notification socket is
// set.

#include <string_view>

#include "base/result.h"

namespace pintle::event {

// Notifies systemd that the service has started, so that units that are ordered after it may start.
Result<> NotifyReady();
// Notifies systemd that the service is about to end.
Result<> NotifyStopping();
// Sets the line that `systemctl status` prints after "Status:".
Result<> NotifyStatus(std::string_view status);

}  // namespace pintle::event
