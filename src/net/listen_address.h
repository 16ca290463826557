// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a server waits to be called: "127.0.0.1:8080", "[::]:22623", or ":22623" for every address that there is.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::net {

struct ListenAddress {
  std::string address;     // Without brackets.
  std::uint16_t port = 0;  // 0: any that is free.
  bool operator==(const ListenAddress&) const = default;
};

Result<ListenAddress> ParseListenAddress(std::string_view text);

// Whether only this machine can call there.
bool IsLoopback(const ListenAddress& listen);

// "127.0.0.1:8080", "[::]:22623"
std::string ToText(const ListenAddress& listen);

}  // namespace pintle::net
