// SPDX-License-Identifier: Apache-2.0
#pragma once

// The address at which a server listens: "127.0.0.1:8080", "[::]:22623", or ":22623" for all addresses.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::net {

struct ListenAddress {
  std::string address;     // Without brackets.
  std::uint16_t port = 0;  // 0 for any free port.
  bool operator==(const ListenAddress&) const = default;
};

Result<ListenAddress> ParseListenAddress(std::string_view text);

// Returns whether only this machine can connect to the address.
bool IsLoopback(const ListenAddress& listen);

// Formats an address as "127.0.0.1:8080" or "[::]:22623".
std::string ToText(const ListenAddress& listen);

}  // namespace pintle::net
