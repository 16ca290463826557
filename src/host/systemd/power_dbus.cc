// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/power_dbus.h"

#include <fcntl.h>

#include <utility>

#include "host/systemd/types_dbus.h"

namespace pintle::host {
namespace {

constexpr const char* kWho = "Pintle";

// The answer of logind to a call, or its error.
struct Answer {
  Message message;
  int result = 0;
  BusError bus_error;

  Error ToError() const { return bus_error.ToError(result); }
  bool IsConnectionLost() const { return bus_error.IsConnectionLost(result); }
};

template <typename... Arguments>
void CallLogind(sd_bus* bus, const char* method, Answer& answer, const char* types, Arguments... arguments) {
  answer.result =
      ::sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                           method, answer.bus_error.get(), Out(answer.message), types, arguments...);
}

}  // namespace

Result<> PowerDbus::Reboot(const std::string& reason) {
  const Bus bus = TRY(OpenSystemBus(), "rebooting");
  // The machine reboots even if this call fails and users are not informed.
  Answer announced;
  CallLogind(bus.get(), "SetWallMessage", announced, "sb", reason.c_str(), 1);
  Answer answer;
  CallLogind(bus.get(), "Reboot", answer, "b", 0);
  // The bus may go down before it delivers the answer.
  if (answer.result >= 0 || answer.IsConnectionLost()) return {};
  return answer.ToError().While("rebooting (`systemd-inhibit --list` shows who may be preventing it)");
}

Result<Inhibitor> PowerDbus::InhibitShutdown(const std::string& reason) {
  const Bus bus = TRY(OpenSystemBus(), "keeping the machine from shutting down");
  Answer answer;
  CallLogind(bus.get(), "Inhibit", answer, "ssss", "shutdown", kWho, reason.c_str(), "block");
  int fd = -1;
  if (answer.result >= 0) answer.result = ::sd_bus_message_read(answer.message.get(), "h", &fd);
  if (answer.result < 0) return answer.ToError().While("keeping the machine from shutting down");
  UniqueFd hold(::fcntl(fd, F_DUPFD_CLOEXEC, 3));  // The message closes its own descriptor.
  if (!hold) return Error::FromErrno("fcntl").While("keeping the machine from shutting down");
  return Inhibitor(std::move(hold));
}

}  // namespace pintle::host
