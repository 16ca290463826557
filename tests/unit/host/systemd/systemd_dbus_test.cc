// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/systemd_dbus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <latch>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "host/systemd/types_dbus.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

using testing::ElementsAre;

// Returns "" if the message is not a call.
std::string_view MethodOf(sd_bus_message* message) {
  const bool is_call = ::sd_bus_message_is_method_call(message, nullptr, nullptr) > 0;
  return is_call ? ::sd_bus_message_get_member(message) : "";
}

// A system bus with a systemd, whose answers to method calls come from a test.
class FakeBus {
 public:
  // Answers a message, and returns 1, or a negative errno.
  using Answer = std::function<int(sd_bus_message* message)>;

  // The bus itself answers Hello, AddMatch and RemoveMatch.
  explicit FakeBus(Answer answer)
      : answer_(std::move(answer)), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
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
  ~FakeBus() {
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  FakeBus(const FakeBus&) = delete;
  FakeBus& operator=(const FakeBus&) = delete;

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
      if (result >= 0) result = ::sd_bus_add_filter(bus.get(), nullptr, &OnMessage, this);
      if (result >= 0) result = ::sd_bus_start(bus.get());
      while (result >= 0) {
        result = ::sd_bus_process(bus.get(), nullptr);
        if (result == 0) result = ::sd_bus_wait(bus.get(), UINT64_MAX);
      }
    }
  }

  static int OnMessage(sd_bus_message* message, void* self, sd_bus_error*) {
    const std::string_view method = MethodOf(message);
    if (method == "Hello") return ::sd_bus_reply_method_return(message, "s", ":1.1") < 0 ? -EIO : 1;
    if (method == "AddMatch" || method == "RemoveMatch")
      return ::sd_bus_reply_method_return(message, "") < 0 ? -EIO : 1;
    return method.empty() ? 0 : static_cast<FakeBus*>(self)->answer_(message);
  }

  Answer answer_;
  TemporaryDirectory directory_;
  UniqueFd listener_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

// systemd has its name on the bus, and never answers.
int AnswerOfBusySystemd(sd_bus_message* message) {
  if (MethodOf(message) == "NameHasOwner") return ::sd_bus_reply_method_return(message, "b", 1) < 0 ? -EIO : 1;
  return 1;
}

TEST(SystemdDbus, IsUnavailableWhileSystemdIsBusy) {
  const FakeBus busy(AnswerOfBusySystemd);
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

// systemd does not have its name on the bus.  As soon as the client waits for this name, its poll(2) fails: the process
// may have no descriptors any more.
class AbsentSystemd {
 public:
  int Answer(sd_bus_message* message) {
    if (MethodOf(message) != "NameHasOwner") return 1;
    if (::sd_bus_reply_method_return(message, "b", 0) < 0) return -EIO;
    // The client answers when it has read the reply, and processes other messages.
    return Ping(::sd_bus_message_get_bus(message));
  }

  // Must be called when the client has given up.
  void EndWait() { given_up_.count_down(); }

 private:
  int Ping(sd_bus* bus) {
    return ::sd_bus_call_method_async(bus, nullptr, nullptr, "/", "org.freedesktop.DBus.Peer", "Ping", &OnPong, this,
                                      "") < 0
               ? -EIO
               : 1;
  }

  static int OnPong(sd_bus_message* message, void* self, sd_bus_error*) {
    rlimit before = {};
    if (::getrlimit(RLIMIT_NOFILE, &before) != 0) return -EIO;
    const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return -EIO;
    // The second ping ends a call of poll(2) that began before.
    const int result = static_cast<AbsentSystemd*>(self)->Ping(::sd_bus_message_get_bus(message));
    static_cast<AbsentSystemd*>(self)->given_up_.wait();
    return ::setrlimit(RLIMIT_NOFILE, &before) != 0 || result < 0 ? -EIO : 1;
  }

  std::latch given_up_{1};
};

TEST(SystemdDbus, GivesUpIfItCannotWaitForSystemd) {
  AbsentSystemd absent;
  const FakeBus bus([&](sd_bus_message* message) { return absent.Answer(message); });
  const Root root = ValueOf(Root::Open("/"));
  const auto status = SystemdDbus(root).Observe("a.service");
  absent.EndWait();
  EXPECT_EQ(MessageOf(status), "looking at a.service: waiting for systemd on the bus: D-Bus: Invalid argument");
}

// Answers about one unit, and records the changes that it is asked for.
class SystemdWithUnit {
 public:
  explicit SystemdWithUnit(const char* file_state) : file_state_(file_state) {}

  int Answer(sd_bus_message* message) {
    const std::string_view method = MethodOf(message);
    if (method == "NameHasOwner") return ::sd_bus_reply_method_return(message, "b", 1) < 0 ? -EIO : 1;
    if (method == "GetUnitFileState") return ::sd_bus_reply_method_return(message, "s", file_state_) < 0 ? -EIO : 1;
    if (method == "DisableUnitFiles") return Disable(message);
    changes.emplace_back(method);
    return ::sd_bus_reply_method_return(message, "") < 0 ? -EIO : 1;
  }

  std::vector<std::string> changes;

 private:
  int Disable(sd_bus_message* message) {
    const char* unit = nullptr;
    int is_runtime = 0;
    if (::sd_bus_message_read(message, "asb", 1, &unit, &is_runtime) < 0) return -EIO;
    changes.push_back(std::string("DisableUnitFiles ") + (is_runtime != 0 ? "--runtime " : "") + unit);
    return ::sd_bus_reply_method_return(message, "a(sss)", 0) < 0 ? -EIO : 1;
  }

  const char* const file_state_;
};

// Returns the changes that systemd is asked for if a unit is to be disabled and has this state afterwards.
std::vector<std::string> ChangesThatDisable(const std::string& unit, const char* file_state_afterwards) {
  SystemdWithUnit systemd(file_state_afterwards);
  {
    const TemporaryDirectory directory;
    const Root root = ValueOf(Root::Open(directory.path().string()));
    const FakeBus bus([&](sd_bus_message* message) { return systemd.Answer(message); });
    const resource::Put<resource::UnitState> put = {unit, {{resource::Enablement::kDisabled}}};
    EXPECT_TRUE(Succeeded(SystemdDbus(root).PutEnablement(std::span(&put, 1))));
  }
  return systemd.changes;
}

TEST(SystemdDbus, DisablesAUnitThatIsEnabledUntilTheNextBoot) {
  EXPECT_THAT(ChangesThatDisable("a.service", "enabled-runtime"),
              ElementsAre("DisableUnitFiles a.service", "DisableUnitFiles --runtime a.service", "Reload"));
}

TEST(SystemdDbus, LeavesTheRuntimeLinksOfAUnitThatIsNotEnabled) {
  for (const char* state : {"disabled", "linked-runtime", "masked-runtime"}) {
    EXPECT_THAT(ChangesThatDisable("a.service", state), ElementsAre("DisableUnitFiles a.service"));
  }
}

TEST(SystemdDbus, FailsIfSystemdIsTooBusyToReportWhetherAUnitIsStillEnabled) {
  const FakeBus bus([](sd_bus_message* message) {
    const std::string_view method = MethodOf(message);
    if (method == "NameHasOwner") return ::sd_bus_reply_method_return(message, "b", 1) < 0 ? -EIO : 1;
    if (method == "DisableUnitFiles") return ::sd_bus_reply_method_return(message, "a(sss)", 0) < 0 ? -EIO : 1;
    if (method != "GetUnitFileState") return ::sd_bus_reply_method_return(message, "") < 0 ? -EIO : 1;
    const char* const error = "org.freedesktop.DBus.Error.Timeout";
    return ::sd_bus_reply_method_errorf(message, error, "systemd is busy") < 0 ? -EIO : 1;
  });
  const TemporaryDirectory directory;
  const Root root = ValueOf(Root::Open(directory.path().string()));
  const resource::Put<resource::UnitState> put = {"a.service", {{resource::Enablement::kDisabled}}};
  const auto disabled = SystemdDbus(root).PutEnablement(std::span(&put, 1));
  ASSERT_FALSE(disabled);
  EXPECT_EQ(disabled.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(disabled.error().message(), "looking at a.service: systemd is busy");
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
