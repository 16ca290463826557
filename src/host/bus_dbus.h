// SPDX-License-Identifier: Apache-2.0
#pragma once

// What goes wrong on a bus, as our errors.

#include "base/result.h"

namespace pintle::host {

// Of a call that returned `negative_errno`; name and message are those of the error that came as the answer, or null.
// A connection that is gone is kUnavailable, and a unit or file that does not exist is kNotFound.
Error BusError(const char* name, const char* message, int negative_errno);

// Whether the other side went away, before or while it was asked.
bool IsConnectionLost(const char* name, int negative_errno);

// Whether the error says that nobody of that name is on the bus.
bool IsAbsent(const char* name);

}  // namespace pintle::host
