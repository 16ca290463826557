// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owning types for sd-bus's objects, and the translation of its errors to ours.

#include <systemd/sd-bus.h>

#include <string>
#include <string_view>

#include "base/c_ptr.h"
#include "base/result.h"

namespace pintle::host {

using Bus = CPtr<sd_bus, sd_bus_flush_close_unref>;
using Message = CPtr<sd_bus_message, sd_bus_message_unref>;
using Slot = CPtr<sd_bus_slot, sd_bus_slot_unref>;

inline constexpr const char* kPropertiesInterface = "org.freedesktop.DBus.Properties";

// Connects to the system bus.
Result<Bus> OpenSystemBus();

// Connects directly to the program that listens at an address, without a bus.
Result<Bus> OpenPeer(const std::string& address);

// The D-Bus error of a failed call; empty if neither the called program nor the bus has answered with an error.  The
// functions also need the negative errno that the call has returned.
class BusError {
 public:
  BusError() = default;
  ~BusError() { ::sd_bus_error_free(&error_); }
  BusError(const BusError&) = delete;
  BusError& operator=(const BusError&) = delete;

  sd_bus_error* get() { return &error_; }
  std::string_view name() const { return error_.name == nullptr ? "" : error_.name; }
  std::string_view message() const { return error_.message == nullptr ? "" : error_.message; }

  // Converts the D-Bus error to an Error of ours, or the errno if there is no D-Bus error.  A D-Bus error has the kind
  // kNotFound if a unit, job or file does not exist, kUnavailable if IsNobodyThere() or the program has not answered in
  // time, and kSystem otherwise.
  Error ToError(int negative_errno) const;

  // Returns whether the connection to the bus or the called program was lost before or during the call.
  bool IsConnectionLost(int negative_errno) const;

  // Returns whether the connection is lost, or no program has the called name on the bus.
  bool IsNobodyThere(int negative_errno) const;

 private:
  sd_bus_error error_ = SD_BUS_ERROR_NULL;
};

}  // namespace pintle::host
