// SPDX-License-Identifier: Apache-2.0
#pragma once

// What sd-bus hands out, owned; and its errors as ours.

#include <systemd/sd-bus.h>

#include <string_view>

#include "base/c_ptr.h"
#include "base/result.h"

namespace pintle::host {

using Bus = CPtr<sd_bus, sd_bus_flush_close_unref>;
using Message = CPtr<sd_bus_message, sd_bus_message_unref>;
using Slot = CPtr<sd_bus_slot, sd_bus_slot_unref>;

// Why a call failed, beside the negative errno that it returned: the error that came as the answer, if one came.
class Problem {
 public:
  Problem() = default;
  ~Problem() { ::sd_bus_error_free(&error_); }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  sd_bus_error* get() { return &error_; }
  std::string_view name() const { return error_.name == nullptr ? "" : error_.name; }
  std::string_view message() const { return error_.message == nullptr ? "" : error_.message; }

  // A connection that is gone is kUnavailable, and a unit or file that does not exist is kNotFound.
  Error Told(int negative_errno) const;

  // Whether the other side went away, before or while it was asked.
  bool IsConnectionLost(int negative_errno) const;

  // The same, or nobody of that name is on the bus.
  bool IsNobodyThere(int negative_errno) const;

 private:
  sd_bus_error error_ = SD_BUS_ERROR_NULL;
};

}  // namespace pintle::host
