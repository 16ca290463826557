// SPDX-License-Identifier: Apache-2.0
#include "controller/metrics_page.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "event/loop.h"
#include "net/url.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using namespace std::chrono_literals;

const MetricsPageContents kReady = {.metrics = std::make_shared<const std::string>("up 1\n"), .unread_kinds = ""};
const MetricsPageContents kReading = {.metrics = kReady.metrics, .unread_kinds = "nodes, pods"};

// Returns the status and the body.
std::string Get(const MetricsPageContents& page, std::string_view target, std::chrono::nanoseconds silence = 5s) {
  const net::HttpAnswer answer =
      AnswerFrom(page, silence, {.method = "GET", .target = target, .peer = "", .headers = {}});
  return std::to_string(answer.status) + " " + (answer.body ? *answer.body : "");
}

TEST(MetricsPage, IsReadyWhenTheClusterIsRead) {
  EXPECT_EQ(Get(kReading, "/readyz"), "503 not read from the API server yet: nodes, pods\n");
  EXPECT_EQ(Get(kReady, "/readyz"), "200 ");
}

TEST(MetricsPage, IsReadyWhenTheIgnitionServerHasWhatItNeeds) {
  MetricsPageContents page = kReady;
  page.why_not_ready = "the Ignition server has no certificate yet";
  EXPECT_EQ(Get(page, "/readyz"), "503 the Ignition server has no certificate yet\n");
  EXPECT_EQ(Get(page, "/healthz"), "200 ");
  page.unread_kinds = "nodes";
  EXPECT_EQ(Get(page, "/readyz"), "503 not read from the API server yet: nodes\n");
}

TEST(MetricsPage, IsHealthyAsLongAsTheLoopRuns) {
  EXPECT_EQ(Get(kReading, "/healthz"), "200 ") << "a restart would not help";
  EXPECT_EQ(Get(kReady, "/healthz", 59s), "200 ");
  EXPECT_EQ(Get(kReady, "/healthz", 73s), "503 the main loop has not run for 73 s\n");
}

TEST(MetricsPage, IsUnavailableIfTheLoopHangs) {
  EXPECT_EQ(Get(kReady, "/metrics?x"), "200 up 1\n");
  EXPECT_EQ(Get(kReading, "/metrics"), "200 up 1\n");
  EXPECT_EQ(Get(kReady, "/metrics", 60s), "503 the main loop has not run for 60 s\n");
  EXPECT_EQ(Get(kReady, "/readyz", 60s), "503 the main loop has not run for 60 s\n");
}

TEST(MetricsPage, HasNoOtherPath) {
  EXPECT_EQ(Get(kReady, "/", 60s), "404 ");
  EXPECT_EQ(AnswerFrom(kReady, 0s, {.method = "POST", .target = "/healthz", .peer = "", .headers = {}}).status, 405);
}

class MetricsPageServerTest : public testing::Test {
 protected:
  // Begins a page at two addresses of loopback, as the only server of the program.
  std::unique_ptr<MetricsPage> Begin() {
    const net::ListenAddress any = ValueOf(net::ParseListenAddress("127.0.0.1:0"));
    return ValueOf(MetricsPage::Begin(*loop_, {.all = any, .probes = any}, [] { return kReady; }));
  }

  static UniqueFd Connect(const net::ListenAddress& address) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const net::Url url = ValueOf(net::Url::Parse("http://" + net::ToText(address)));
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(url.port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    return fd;
  }

  // Returns the first line of the answer, or "" if the server closes the connection.
  static std::string Ask(const UniqueFd& connection, const std::string& path) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
    if (::send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return "";
    char bytes[4096];
    const ssize_t count = ::recv(connection.get(), bytes, sizeof(bytes), 0);
    const std::string answer(bytes, count < 0 ? 0 : static_cast<std::size_t>(count));
    return answer.substr(0, answer.find('\r'));
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
};

TEST_F(MetricsPageServerTest, AnswersProbesAtTheirOwnAddressWhenTheConnectionsOfTheOtherAreUsedUp) {
  const std::unique_ptr<MetricsPage> page = Begin();
  // One client has as many connections as it may have.  All clients of these tests have the same address.
  std::vector<UniqueFd> connections;
  for (int i = 0; i < 16; ++i) {
    connections.push_back(Connect(*page->addresses().all));
    EXPECT_EQ(Ask(connections.back(), "/metrics"), "HTTP/1.1 200 OK");
  }
  EXPECT_EQ(Ask(Connect(*page->addresses().all), "/healthz"), "");
  EXPECT_EQ(Ask(Connect(*page->addresses().probes), "/healthz"), "HTTP/1.1 200 OK");
  EXPECT_EQ(Ask(Connect(*page->addresses().probes), "/readyz"), "HTTP/1.1 200 OK");
}

TEST_F(MetricsPageServerTest, HasNoMetricsAtTheAddressOfTheProbes) {
  const std::unique_ptr<MetricsPage> page = Begin();
  EXPECT_EQ(Ask(Connect(*page->addresses().probes), "/metrics"), "HTTP/1.1 404 Not Found");
  EXPECT_EQ(Ask(Connect(*page->addresses().all), "/healthz"), "HTTP/1.1 200 OK");
}

}  // namespace
}  // namespace pintle::controller
