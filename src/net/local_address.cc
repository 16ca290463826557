// SPDX-License-Identifier: Apache-2.0
#include "net/local_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "net/http_answer.h"

namespace pintle::net {
namespace {

constexpr std::string_view kLocalhost = "localhost";

bool IsLoopbackIpv4(const in_addr& address) { return ntohl(address.s_addr) >> 24 == 127; }

bool IsLocalIpv4(const in_addr& address) {
  const std::uint32_t number = ntohl(address.s_addr);
  return IsLoopbackIpv4(address) || number >> 24 == 0 || number >> 16 == 0xa9fe;
}

// Returns the IPv4 address in an IPv6 address, if there is one.
std::optional<in_addr> Ipv4In(const in6_addr& address) {
  if (!IN6_IS_ADDR_V4MAPPED(&address) && !IN6_IS_ADDR_V4COMPAT(&address)) return std::nullopt;
  in_addr inner = {};
  std::memcpy(&inner, &address.s6_addr[12], sizeof inner);
  return inner;
}

bool IsLoopbackIpv6(const in6_addr& address) {
  const auto inner = Ipv4In(address);
  return inner ? IsLoopbackIpv4(*inner) : IN6_IS_ADDR_LOOPBACK(&address) != 0;
}

bool IsLocalIpv6(const in6_addr& address) {
  if (const auto inner = Ipv4In(address)) return IsLocalIpv4(*inner);
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) || IN6_IS_ADDR_LINKLOCAL(&address);
}

bool IsNameOfThisMachine(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::size_t begin = host.size() - std::min(kLocalhost.size(), host.size());
  if (!SameIgnoringCase(host.substr(begin), kLocalhost)) return false;
  return begin == 0 || host[begin - 1] == '.';
}

// Returns whether the host of a URL is an address, and the function for its family accepts it.
bool MatchesAddress(std::string_view host, bool (*accepts_ipv4)(const in_addr&),
                    bool (*accepts_ipv6)(const in6_addr&)) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string text(host.substr(0, host.find('%')));  // Without a zone.
  in_addr four = {};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return accepts_ipv4(four);
  in6_addr six = {};
  return ::inet_pton(AF_INET6, text.c_str(), &six) == 1 && accepts_ipv6(six);
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
  return IsNameOfThisMachine(host) || MatchesAddress(host, IsLocalIpv4, IsLocalIpv6);
}

bool IsLoopbackHost(std::string_view host) {
  return SameIgnoringCase(host, kLocalhost) || MatchesAddress(host, IsLoopbackIpv4, IsLoopbackIpv6);
}

}  // namespace pintle::net
