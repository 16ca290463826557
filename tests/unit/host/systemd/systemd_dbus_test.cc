// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/systemd_dbus.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"
#include "host/systemd/types_dbus.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

// A system bus on which systemd has its name, and never answers.
class BusySystemd {
 public:
  BusySystemd() : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const std::string path = (directory_ / "bus").string();
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 4) != 0) {
      throw std::runtime_error("cannot listen");
    }
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);
    thread_ = std::thread([this] { Serve(); });
  }
  ~BusySystemd() {
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  BusySystemd(const BusySystemd&) = delete;
  BusySystemd& operator=(const BusySystemd&) = delete;

  int connections() const { return connections_; }

 private:
  // Serves one connection after the other, each until its client closes it.
  void Serve() {
    for (;;) {
      UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!client) return;
      ++connections_;
      const int fd = client.Release();
      Bus bus;
      const sd_id128_t id = {{1}};
      int result = ::sd_bus_new(Out(bus));
      if (result >= 0) result = ::sd_bus_set_fd(bus.get(), fd, fd);
      if (result >= 0) result = ::sd_bus_set_server(bus.get(), 1, id);
      if (result >= 0) result = ::sd_bus_add_filter(bus.get(), nullptr, &Answer, nullptr);
      if (result >= 0) result = ::sd_bus_start(bus.get());
      while (result >= 0) {
        result = ::sd_bus_process(bus.get(), nullptr);
        if (result == 0) result = ::sd_bus_wait(bus.get(), UINT64_MAX);
      }
    }
  }

  static int Answer(sd_bus_message* message, void*, sd_bus_error*) {
    const char* member = ::sd_bus_message_get_member(message);
    const std::string_view method = member == nullptr ? "" : member;
    if (method == "Hello") return ::sd_bus_reply_method_return(message, "s", ":1.1") < 0 ? -EIO : 1;
    if (method == "NameHasOwner") return ::sd_bus_reply_method_return(message, "b", 1) < 0 ? -EIO : 1;
    if (method == "AddMatch") return ::sd_bus_reply_method_return(message, "") < 0 ? -EIO : 1;
    return 1;
  }

  TemporaryDirectory directory_;
  UniqueFd listener_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

TEST(SystemdDbus, IsUnavailableWhileSystemdIsBusy) {
  const BusySystemd busy;
  const Root root = ValueOf(Root::Open("/"));
  {
    SystemdDbus systemd(root, std::chrono::milliseconds(100));
    for (int i = 0; i < 2; ++i) {
      const auto status = systemd.Observe("a.service");
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().kind(), ErrorKind::kUnavailable) << status.error().message();
    }
  }
  EXPECT_EQ(busy.connections(), 1) << "the connection is not lost";
}

TEST(BusError, IsUnavailableIfACallHasTimedOut) {
  EXPECT_EQ(BusError().ToError(-ETIMEDOUT).kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(BusError().ToError(-EIO).kind(), ErrorKind::kSystem);
  BusError timeout;
  ::sd_bus_error_set_const(timeout.get(), "org.freedesktop.DBus.Error.Timeout", "Timed out");
  EXPECT_EQ(timeout.ToError(-ETIMEDOUT).kind(), ErrorKind::kUnavailable);
  EXPECT_FALSE(timeout.IsConnectionLost(-ETIMEDOUT));
}

}  // namespace
}  // namespace pintle::host
