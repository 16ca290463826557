// SPDX-License-Identifier: Apache-2.0
#include "net/local_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "net/http_answer.h"

namespace pintle::net {
namespace {

constexpr std::string_view kLocalhost = "localhost";

bool IsLoopbackIpv4(const in_addr& address) { return ntohl(address.s_addr) >> 24 == 127; }

// Metadata services of clouds at addresses that are not link-local.
constexpr std::array<const char*, 2> kMetadataIpv4 = {
    "100.100.100.200",  // Alibaba Cloud.
    "168.63.129.16",    // Azure's WireServer.
};
constexpr std::array<const char*, 3> kMetadataIpv6 = {
    "fd00:ec2::254",       // Amazon Web Services.
    "fd00:c1::a9fe:a9fe",  // Oracle Cloud.
    "fd20:ce::254",        // Google Cloud.
};

template <typename Address, std::size_t size>
bool IsOneOf(const Address& address, int family, const std::array<const char*, size>& texts) {
  return std::any_of(texts.begin(), texts.end(), [&](const char* text) {
    Address known = {};
    return ::inet_pton(family, text, &known) == 1 && std::memcmp(&known, &address, sizeof known) == 0;
  });
}

bool IsOfThisNetworkIpv4(const in_addr& address) { return ntohl(address.s_addr) >> 24 == 0; }

bool IsLocalIpv4(const in_addr& address) {
  return IsLoopbackIpv4(address) || IsOfThisNetworkIpv4(address) || ntohl(address.s_addr) >> 16 == 0xa9fe ||
         IsOneOf(address, AF_INET, kMetadataIpv4);
}

in_addr Ipv4At(const in6_addr& address, std::size_t offset) {
  in_addr inner = {};
  std::memcpy(&inner, &address.s6_addr[offset], sizeof inner);
  return inner;
}

bool HasPrefix(const in6_addr& address, std::initializer_list<std::uint8_t> prefix) {
  return std::equal(prefix.begin(), prefix.end(), &address.s6_addr[0]);
}

// Returns the IPv4 address that is mapped to an IPv6 address, if there is one.
std::optional<in_addr> Ipv4In(const in6_addr& address) {
  if (!IN6_IS_ADDR_V4MAPPED(&address) && !IN6_IS_ADDR_V4COMPAT(&address)) return std::nullopt;
  return Ipv4At(address, 12);
}

// Returns the IPv4 address to which a gateway (NAT64, RFC 6052) or a tunnel (6to4, RFC 3056) forwards the packets for
// an IPv6 address.
std::optional<in_addr> Ipv4Behind(const in6_addr& address) {
  if (HasPrefix(address, {0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return Ipv4At(address, 12);
  if (HasPrefix(address, {0x20, 0x02})) return Ipv4At(address, 2);
  return std::nullopt;
}

// Returns whether an address of the local NAT64 prefix 64:ff9b:1::/48 (RFC 8215) may lead to a local IPv4 address.  A
// network chooses a prefix of 48, 56, 64 or 96 bits in this range, and we do not know which, so all four places of the
// IPv4 address count (RFC 6052, section 2.2).  Zeros are usually a part of the prefix, and no gateway forwards to
// 0.0.0.0/8.
bool IsLocalBehindLocalNat64(const in6_addr& address) {
  if (!HasPrefix(address, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01})) return false;
  const auto& bytes = address.s6_addr;
  // Byte 8 is no part of the IPv4 address.
  const std::array<std::array<std::uint8_t, 4>, 4> places = {{{bytes[6], bytes[7], bytes[9], bytes[10]},
                                                              {bytes[7], bytes[9], bytes[10], bytes[11]},
                                                              {bytes[9], bytes[10], bytes[11], bytes[12]},
                                                              {bytes[12], bytes[13], bytes[14], bytes[15]}}};
  return std::any_of(places.begin(), places.end(), [](const auto& place) {
    in_addr inner = {};
    std::memcpy(&inner, place.data(), sizeof inner);
    return !IsOfThisNetworkIpv4(inner) && IsLocalIpv4(inner);
  });
}

bool IsLoopbackIpv6(const in6_addr& address) {
  const auto inner = Ipv4In(address);
  return inner ? IsLoopbackIpv4(*inner) : IN6_IS_ADDR_LOOPBACK(&address) != 0;
}

bool IsLocalIpv6(const in6_addr& address) {
  if (const auto inner = Ipv4In(address)) return IsLocalIpv4(*inner);
  if (const auto behind = Ipv4Behind(address)) return IsLocalIpv4(*behind);
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) || IN6_IS_ADDR_LINKLOCAL(&address) ||
         IsLocalBehindLocalNat64(address) || IsOneOf(address, AF_INET6, kMetadataIpv6);
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
  return true;  // Addresses of other families, such as AF_UNIX, are of this machine.
}

bool IsLocalHost(std::string_view host) {
  return IsNameOfThisMachine(host) || MatchesAddress(host, IsLocalIpv4, IsLocalIpv6);
}

bool IsLoopbackHost(std::string_view host) {
  return SameIgnoringCase(host, kLocalhost) || MatchesAddress(host, IsLoopbackIpv4, IsLoopbackIpv6);
}

}  // namespace pintle::net
