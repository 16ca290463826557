// SPDX-License-Identifier: Apache-2.0
#include "net/local_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "net/http_answer.h"

namespace pintle::net {
namespace {

bool IsLocalIpv4(const in_addr& address) {
  const std::uint32_t number = ntohl(address.s_addr);
  const std::uint32_t first_byte = number >> 24;
  return first_byte == 127 || first_byte == 0 || number >> 16 == 0xa9fe;
}

bool IsLocalIpv6(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address) || IN6_IS_ADDR_V4COMPAT(&address)) {
    in_addr mapped = {};
    std::memcpy(&mapped, &address.s6_addr[12], sizeof mapped);
    return IsLocalIpv4(mapped);
  }
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) || IN6_IS_ADDR_LINKLOCAL(&address);
}

bool IsNameOfThisMachine(std::string_view host) {
  constexpr std::string_view kName = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < kName.size() || !SameIgnoringCase(host.substr(host.size() - kName.size()), kName)) return false;
  return host.size() == kName.size() || host[host.size() - kName.size() - 1] == '.';
}

}  // namespace

bool IsLocal(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in four = {};
    std::memcpy(&four, &address, sizeof four);
    return IsLocalIpv4(four.sin_addr);
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 six = {};
    std::memcpy(&six, &address, sizeof six);
    return IsLocalIpv6(six.sin6_addr);
  }
  return true;  // Other kinds, such as the sockets of files, are of this machine.
}

bool IsLocalHost(std::string_view host) {
  if (IsNameOfThisMachine(host)) return true;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string text(host.substr(0, host.find('%')));  // Without a zone.
  in_addr four = {};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return IsLocalIpv4(four);
  in6_addr six = {};
  return ::inet_pton(AF_INET6, text.c_str(), &six) == 1 && IsLocalIpv6(six);
}

}  // namespace pintle::net
