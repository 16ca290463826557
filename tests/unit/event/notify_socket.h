// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces systemd's end of the notification socket; its watchdog interval is 20 ms.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"
#include "support/temporary_directory.h"

namespace pintle::event {

class NotifySocket {
 public:
  NotifySocket() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const std::string path = directory_ / "notify";
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) std::abort();
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("WATCHDOG_USEC", "20000", 1);
  }
  ~NotifySocket() {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}) ::unsetenv(name);
  }

  int fd() const { return socket_.get(); }
  std::string Receive() const {
    std::array<char, 256> datagram;
    const ssize_t length = ::recv(fd(), datagram.data(), datagram.size(), 0);
    return length < 0 ? "" : std::string(datagram.data(), static_cast<std::size_t>(length));
  }

 private:
  TemporaryDirectory directory_;
  UniqueFd socket_;
};

}  // namespace pintle::event
