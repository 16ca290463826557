// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Ignition server's options that `pintle-controller serve` and `pintle-controller start` have in common.

#include <array>

#include "base/command_line.h"
#include "base/result.h"
#include "serving/ignition_service.h"

namespace pintle::serving {

inline constexpr auto kServingOptions = std::to_array<Option>({
    {"--tls-min-version", "VERSION", "VersionTLS12 or VersionTLS13 [VersionTLS12]"},
    {"--tls-cipher-suites", "LIST", "the cipher suites for TLS 1.2, with commas between them"},
    {"--access", "MODE", "open, grace or required: whether a token is needed; with open, anyone gets secrets [open]"},
    {"--token-keys", "FILE", "the keys that tokens are signed with"},
    {"--rate", "NUMBER", "how many requests a second one address may make; 0: any number [200]"},
    {"--connections-per-address", "NUMBER", "how many connections one address may have; 0: any number [1024]"},
    {"--threads", "NUMBER", "how many threads answer requests [2]"},
});

// Returns a verb's own options with kServingOptions in between.
template <std::size_t kBefore, std::size_t kBehind>
constexpr auto WithServingOptions(const std::array<Option, kBefore>& before,
                                  const std::array<Option, kBehind>& behind) {
  std::array<Option, kBefore + kServingOptions.size() + kBehind> all = {};
  std::size_t at = 0;
  for (const Option& option : before) all[at++] = option;
  for (const Option& option : kServingOptions) all[at++] = option;
  for (const Option& option : behind) all[at++] = option;
  return all;
}

// Sets the settings that kServingOptions are about.
Result<> ReadServingOptions(const CommandLine& line, IgnitionSettings& settings);

}  // namespace pintle::serving
