// SPDX-License-Identifier: Apache-2.0
#include "event/notify.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <string>

namespace pintle::event {
namespace {

Result<> Notify(const std::string& state) {
  const int sent = ::sd_notify(0, state.c_str());
  if (sent < 0) return Error::FromErrno("sd_notify", -sent).While("notifying systemd of our state");
  return {};
}

}  // namespace

Result<> NotifyReady() { return Notify("READY=1"); }

Result<> NotifyStopping() { return Notify("STOPPING=1"); }

Result<> NotifyStatus(std::string_view status) {
  std::string line = "STATUS=" + std::string(status);
  // A line break would begin another field of the message.
  std::replace(line.begin(), line.end(), '\n', ' ');
  return Notify(line);
}

}  // namespace pintle::event
