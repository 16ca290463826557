// SPDX-License-Identifier: Apache-2.0
#include "host/bus_dbus.h"

#include <cerrno>
#include <initializer_list>
#include <string_view>

namespace pintle::host {
namespace {

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view candidate : names) {
    if (name == candidate) return true;
  }
  return false;
}

}  // namespace

bool IsConnectionLost(const char* name, int negative_errno) {
  if (name != nullptr) {
    return IsOneOf(name, {"org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected"});
  }
  const int number = -negative_errno;
  return number == ECONNRESET || number == ENOTCONN || number == EPIPE || number == ESHUTDOWN;
}

bool IsAbsent(const char* name) {
  return name != nullptr &&
         IsOneOf(name, {"org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown"});
}

Error BusError(const char* name, const char* message, int negative_errno) {
  if (name == nullptr) return Error::FromErrno("D-Bus", -negative_errno);
  const bool is_missing = IsOneOf(name, {"org.freedesktop.systemd1.NoSuchUnit", "org.freedesktop.systemd1.NoSuchJob",
                                         "org.freedesktop.DBus.Error.FileNotFound", "System.Error.ENOENT"});
  const ErrorKind kind = is_missing                                                 ? ErrorKind::kNotFound
                         : IsConnectionLost(name, negative_errno) || IsAbsent(name) ? ErrorKind::kUnavailable
                                                                                    : ErrorKind::kSystem;
  return Error(kind, message != nullptr && *message != '\0' ? message : name);
}

}  // namespace pintle::host
