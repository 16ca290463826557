// SPDX-License-Identifier: Apache-2.0

// The head of a request is parsed or refused, in pieces too.  A parsed request keeps the limits, and the bytes behind
// its head stay.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/request_parser.h"

namespace {

using pintle::net::RequestParser;

constexpr RequestParser::Limits kLimits = {.bytes = 4096, .fields = 20};

void Use(const RequestParser& parser) {
  if (parser.Request("192.0.2.1:80").headers.size() > kLimits.fields) std::abort();
  static_cast<void>(parser.WantedAfterAnswer());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  RequestParser whole(kLimits);
  std::string remaining(input);
  if (whole.Parse(remaining) == RequestParser::State::kComplete) Use(whole);
  if (!input.ends_with(remaining)) std::abort();

  RequestParser in_pieces(kLimits);
  auto state = RequestParser::State::kIncomplete;
  std::string received;
  for (std::size_t i = 0; i < size && state == RequestParser::State::kIncomplete; ++i) {
    received += input[i];
    state = in_pieces.Parse(received);
  }
  if (state == RequestParser::State::kComplete) Use(in_pieces);
  return 0;
}
