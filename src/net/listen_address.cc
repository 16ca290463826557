// SPDX-License-Identifier: Apache-2.0
#include "net/listen_address.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>

#include <charconv>

namespace pintle::net {
namespace {

constexpr std::string_view kEveryAddress = "::";  // All addresses, including those of IPv4.

bool IsAddress(const std::string& text) {
  in6_addr address = {};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1 || ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

Error NotAnAddress(std::string_view text) {
  return Error(
      ErrorKind::kInvalid,
      fmt::format("\"{}\" is not an address to listen at: it must be like 127.0.0.1:8080, [::1]:8080 or :8080", text));
}

}  // namespace

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return NotAnAddress(text);
  std::string_view address = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool has_brackets = address.starts_with('[') && address.ends_with(']');
  if (has_brackets) address = address.substr(1, address.size() - 2);
  if (has_brackets != (address.find(':') != std::string_view::npos)) return NotAnAddress(text);
  ListenAddress listen = {std::string(address.empty() ? kEveryAddress : address), 0};
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  if (failed != std::errc() || end != port.data() + port.size() || !IsAddress(listen.address))
    return NotAnAddress(text);
  return listen;
}

bool IsLoopback(const ListenAddress& listen) {
  in_addr ipv4 = {};
  if (::inet_pton(AF_INET, listen.address.c_str(), &ipv4) == 1) return (ntohl(ipv4.s_addr) >> 24) == 127;
  in6_addr ipv6 = {};
  return ::inet_pton(AF_INET6, listen.address.c_str(), &ipv6) == 1 && IN6_IS_ADDR_LOOPBACK(&ipv6);
}

std::string ToText(const ListenAddress& listen) {
  const bool is_ipv6 = listen.address.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", listen.address, listen.port)
                 : fmt::format("{}:{}", listen.address, listen.port);
}

}  // namespace pintle::net
