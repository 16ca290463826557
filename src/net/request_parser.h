// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the head of a request that a client sends to our HTTP server, while its bytes arrive.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_answer.h"

namespace pintle::net {

class RequestParser {
 public:
  struct Limits {
    std::size_t bytes;
    std::size_t fields;
  };
  enum class State {
    kIncomplete,
    kComplete,
    kTooLarge,   // The head has more bytes or fields than the limits allow.
    kMalformed,  // The bytes are not HTTP, or a request of HTTP/1.1 does not have exactly one Host.
  };

  explicit RequestParser(const Limits& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Parses `received`, and removes the bytes that belong to the head.  Must not be called after another state than
  // kIncomplete.
  State Parse(std::string& received);

  // These two may be called after kComplete.  The request refers to texts of this object and to `peer`.
  IncomingRequest Request(std::string_view peer) const;
  // Returns what the client wants to be done with the connection after the answer.  Since bodies are not read, a body
  // could be taken for the next request, so the connection is closed after a request with a body.
  AfterAnswer WantedAfterAnswer() const;

 private:
  class Parsed;

  const Limits limits_;
  const std::unique_ptr<Parsed> parsed_;
};

}  // namespace pintle::net
