// SPDX-License-Identifier: Apache-2.0

// The server that the Ignition server is compared with: it answers every request with the same bytes over TLS, and does
// nothing else.
//
// Arguments: the certificate, the key, the file with the body.  It prints its port.  Each connection has a thread.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "bench/tls_connection.h"

namespace {

using pintle::UniqueFd;
using pintle::bench::Die;
using pintle::bench::TlsConnection;

std::string ReadAll(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void Serve(TlsConnection connection, const std::string& head, const std::string& body) {
  if (!connection.Accept()) return;
  std::string request;
  char bytes[4096];
  while (const std::size_t count = connection.Read(bytes, sizeof bytes)) {
    request.append(bytes, count);
    if (!request.ends_with("\r\n\r\n")) continue;
    request.clear();
    if (!connection.Write(head) || !connection.Write(body)) return;
  }
}

UniqueFd Listen() {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), any, size) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) Die("listen");
  if (::getsockname(socket.get(), any, &size) != 0) Die("getsockname");
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return socket;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  ::signal(SIGPIPE, SIG_IGN);
  SSL_CTX* context = ::SSL_CTX_new(::TLS_server_method());
  if (::SSL_CTX_use_certificate_chain_file(context, argv[1]) != 1 ||
      ::SSL_CTX_use_PrivateKey_file(context, argv[2], SSL_FILETYPE_PEM) != 1) {
    Die("the certificate");
  }
  const std::string body = ReadAll(argv[3]);
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n";
  const UniqueFd listener = Listen();
  for (;;) {
    UniqueFd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) Die("accept");
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::thread(Serve, TlsConnection(context, std::move(socket)), std::cref(head), std::cref(body)).detach();
  }
}
