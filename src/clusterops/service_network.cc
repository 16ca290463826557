// SPDX-License-Identifier: Apache-2.0
#include "clusterops/service_network.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pintle::clusterops {
namespace {

// The address of the DNS server is the first address of the range plus this.
constexpr std::uint8_t kDnsServer = 10;
// A range needs this many free bits to contain the address of the DNS server.
constexpr std::size_t kBitsForDnsServer = 4;

struct Range {
  int family = AF_INET;
  std::array<std::uint8_t, 16> address = {};  // The first address of the range.
  std::size_t prefix = 0;                     // The number of bits that all addresses have in common.
  std::size_t bytes() const { return family == AF_INET ? 4 : 16; }
};

// Parses ADDRESS/BITS, and sets the bits of the address behind the prefix to zero.
std::optional<Range> ParseRange(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  Range range;
  range.family = text.find(':') == std::string::npos ? AF_INET : AF_INET6;
  if (::inet_pton(range.family, text.substr(0, slash).c_str(), range.address.data()) != 1) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + slash + 1, end, range.prefix);
  if (read.ec != std::errc() || read.ptr != end || range.prefix > range.bytes() * 8) return std::nullopt;
  for (std::size_t bit = range.prefix; bit < range.bytes() * 8; ++bit) {
    range.address[bit / 8] &= static_cast<std::uint8_t>(~(0x80U >> (bit % 8)));
  }
  return range;
}

Error BadRange(const std::string& text) {
  return Error(
      ErrorKind::kInvalid,
      fmt::format("the Network named cluster: spec.serviceNetwork: \"{}\" is not a range of IP addresses", text));
}

}  // namespace

Result<std::string> ClusterDnsAddress(const std::vector<std::string>& ranges) {
  if (ranges.empty()) return Error(ErrorKind::kInvalid, "service cidr is empty in Network");
  auto range = ParseRange(ranges.front());
  if (!range) return BadRange(ranges.front());
  if (range->bytes() * 8 - range->prefix < kBitsForDnsServer) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("the Network named cluster: spec.serviceNetwork: \"{}\" is too small: "
                             "the DNS server needs the first address plus {}",
                             ranges.front(), kDnsServer));
  }
  // The last bits of the first address are free, so the sum needs no carry.
  std::uint8_t& last = range->address[range->bytes() - 1];
  last = static_cast<std::uint8_t>(last | kDnsServer);
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (::inet_ntop(range->family, range->address.data(), text.data(), text.size()) == nullptr) {
    return BadRange(ranges.front());
  }
  return std::string(text.data());
}

Result<std::string_view> IpFamiliesOf(const std::vector<std::string>& ranges) {
  bool has_v4 = false;
  bool has_v6 = false;
  bool is_first_v6 = false;
  for (const std::string& text : ranges) {
    const auto range = ParseRange(text);
    if (!range) return BadRange(text);
    if (!has_v4 && !has_v6) is_first_v6 = range->family == AF_INET6;
    (range->family == AF_INET ? has_v4 : has_v6) = true;
  }
  if (has_v4 && has_v6) return std::string_view(is_first_v6 ? "DualStackIPv6Primary" : "DualStack");
  if (has_v4) return std::string_view("IPv4");
  if (has_v6) return std::string_view("IPv6");
  return Error(ErrorKind::kInvalid, "could not determine cluster IP families from config");
}

}  // namespace pintle::clusterops
