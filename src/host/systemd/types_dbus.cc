// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/types_dbus.h"

#include <cerrno>
#include <initializer_list>

namespace pintle::host {
namespace {

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view candidate : names) {
    if (name == candidate) return true;
  }
  return false;
}

}  // namespace

Result<Bus> OpenSystemBus() {
  Bus bus;
  const int result = ::sd_bus_open_system(Out(bus));
  if (result < 0) return Error::FromErrno("connecting to the system bus", -result);
  return bus;
}

Result<Bus> OpenPeer(const std::string& address) {
  Bus bus;
  int result = ::sd_bus_new(Out(bus));
  if (result >= 0) result = ::sd_bus_set_address(bus.get(), address.c_str());
  if (result >= 0) result = ::sd_bus_start(bus.get());
  if (result < 0) return Error::FromErrno("connecting to " + address, -result);
  return bus;
}

bool BusError::IsConnectionLost(int negative_errno) const {
  if (!name().empty()) {
    return IsOneOf(name(), {"org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected"});
  }
  const int number = -negative_errno;
  return number == ECONNRESET || number == ENOTCONN || number == EPIPE || number == ESHUTDOWN;
}

bool BusError::IsNobodyThere(int negative_errno) const {
  return IsConnectionLost(negative_errno) ||
         IsOneOf(name(), {"org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown"});
}

Error BusError::ToError(int negative_errno) const {
  if (name().empty()) {
    const Error error = Error::FromErrno("D-Bus", -negative_errno);
    return negative_errno == -ETIMEDOUT ? Error(ErrorKind::kUnavailable, error.message()) : error;
  }
  const bool is_missing = IsOneOf(name(), {"org.freedesktop.systemd1.NoSuchUnit", "org.freedesktop.systemd1.NoSuchJob",
                                           "org.freedesktop.DBus.Error.FileNotFound", "System.Error.ENOENT"});
  // After these errors, the program may still answer later: it was only busy.
  const bool is_late = IsOneOf(name(), {"org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut"});
  const ErrorKind kind = is_missing                                 ? ErrorKind::kNotFound
                         : is_late || IsNobodyThere(negative_errno) ? ErrorKind::kUnavailable
                                                                    : ErrorKind::kSystem;
  return Error(kind, std::string(message().empty() ? name() : message()));
}

}  // namespace pintle::host
