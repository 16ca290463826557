// SPDX-License-Identifier: Apache-2.0

// No parser reports a secret of its input.  The first byte of the input selects the parser.  The rest is the parser's
// text, in which each byte 1 stands for the secret.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/planted_secret.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pintle::planted;
  if (size == 0) return 0;
  constexpr std::uint8_t kStandsForSecret = 1;
  std::string text;
  for (std::size_t i = 1; i < size; ++i) {
    if (data[i] == kStandsForSecret) {
      text += kSecret;
    } else {
      text += static_cast<char>(data[i]);
    }
  }
  const Parser& parser = Parsers()[data[0] % Parsers().size()];
  const std::string messages = MessagesWithoutNames(parser, text);
  if (PieceOfSecretIn(messages).empty()) return 0;
  std::fprintf(stderr, "%s reports the secret: %s\n", std::string(parser.name).c_str(), messages.c_str());
  std::abort();
}
