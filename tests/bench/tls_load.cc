// SPDX-License-Identifier: Apache-2.0

// Requests a config from a server on loopback over TLS, again and again, as fast as the server answers.
//
// Arguments: the port; the version of TLS (1.2 or 1.3); `keep` to reuse connections, or `new` for a new connection for
// each request; the number of concurrent connections; the number of seconds (0: each connection sends one request).
// The program prints the number of answers, the seconds, and the number of received bytes.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "bench/tls_connection.h"

namespace {

using Clock = std::chrono::steady_clock;
using pintle::UniqueFd;
using pintle::bench::Die;
using pintle::bench::TlsConnection;

const std::string kAccept = "Accept: application/vnd.coreos.ignition+json;version=3.2.0, */*;q=0.1\r\n";

struct LoadSettings {
  std::uint16_t port;
  SSL_CTX* context;
  bool keeps;
  int connections;
  std::chrono::seconds time;
};

std::atomic<std::uint64_t> answers = 0;
std::atomic<std::uint64_t> bytes_read = 0;

UniqueFd Connect(std::uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) Die("connect");
  // Like Ignition and curl, send a request without waiting until the server has acknowledged the handshake.
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket;
}

// Returns the length of the body, or 0 if the head is not that of a config.
std::size_t LengthIn(std::string_view head) {
  const std::size_t at = head.find("Content-Length: ");
  if (at == std::string_view::npos || !head.starts_with("HTTP/1.1 200 ")) return 0;
  return std::strtoul(head.data() + at + 16, nullptr, 10);
}

void RequestConfig(TlsConnection& connection, const std::string& request, std::vector<char>& buffer) {
  if (!connection.Write(request)) Die("sending the request");
  std::string head;
  std::size_t end = std::string::npos;
  while (end == std::string::npos) {
    const std::size_t count = connection.Read(buffer.data(), buffer.size());
    if (count == 0) Die("reading the head");
    head.append(buffer.data(), count);
    end = head.find("\r\n\r\n");
  }
  const std::size_t length = LengthIn(head);
  if (length == 0) Die("the answer is not a config");
  std::size_t got = head.size() - end - 4;
  while (got < length) {
    const std::size_t count = connection.Read(buffer.data(), buffer.size());
    if (count == 0) Die("reading the body");
    got += count;
  }
  ++answers;
  bytes_read += length;
}

void RunMachine(const LoadSettings& settings, std::latch& begin) {
  const std::string request = "GET /config/worker HTTP/1.1\r\nHost: localhost\r\n" + kAccept +
                              (settings.keeps ? "\r\n" : "Connection: close\r\n\r\n");
  std::vector<char> buffer(1 << 16);
  begin.arrive_and_wait();
  const auto end = Clock::now() + settings.time;
  do {
    TlsConnection connection(settings.context, Connect(settings.port));
    if (!connection.Connect()) Die("shaking hands");
    do {
      RequestConfig(connection, request, buffer);
    } while (settings.keeps && Clock::now() < end);
  } while (Clock::now() < end);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 64;
  ::signal(SIGPIPE, SIG_IGN);
  SSL_CTX* context = ::SSL_CTX_new(::TLS_client_method());
  const int version = std::string(argv[2]) == "1.2" ? TLS1_2_VERSION : TLS1_3_VERSION;
  ::SSL_CTX_set_min_proto_version(context, version);
  ::SSL_CTX_set_max_proto_version(context, version);
  const LoadSettings settings = {static_cast<std::uint16_t>(std::atoi(argv[1])), context,
                                 std::string(argv[3]) == "keep", std::atoi(argv[4]),
                                 std::chrono::seconds(std::atoi(argv[5]))};
  std::latch begin(settings.connections + 1);
  std::vector<std::thread> machines;
  for (int i = 0; i < settings.connections; ++i) {
    machines.emplace_back(RunMachine, std::cref(settings), std::ref(begin));
  }
  begin.arrive_and_wait();
  const auto start = Clock::now();
  for (std::thread& machine : machines) machine.join();
  const std::chrono::duration<double> took = Clock::now() - start;
  std::printf("%llu %.6f %llu\n", static_cast<unsigned long long>(answers.load()), took.count(),
              static_cast<unsigned long long>(bytes_read.load()));
  return 0;
}
