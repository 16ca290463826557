// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests that our HTTP server receives, and its answers, as plain data.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"

namespace pintle::net {

// Ignores the case of ASCII letters only, because names in HTTP have no other letters.
bool SameIgnoringCase(std::string_view a, std::string_view b);

// A request, which is valid during the call of the handler.
struct IncomingRequest {
  struct Field {
    std::string_view name;
    std::string_view value;
  };

  std::string_view method;
  std::string_view target;  // The path and the query, as the client has sent them.
  std::string_view peer;    // The address and the port of the client.
  std::vector<Field> headers;

  // Returns the first header of this name, in any case.
  std::optional<std::string_view> Find(std::string_view name) const;
};

// A body without an end: the server sends each piece as soon as the stream has it, until the connection ends.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Returns the next piece.  If there is none yet, returns nullptr, and later calls `wake` when there is one.  `wake`
  // may be called from any thread, but not during this call.  A second call of Next() replaces the `wake` of the first
  // one.
  virtual std::shared_ptr<const std::string> Next(std::function<void()> wake) = 0;
};

struct HttpAnswer {
  int status = 200;
  std::vector<Header> headers = {};  // Without Content-Length, Date and Connection, which the server adds.
  // Several answers may share a body.  The answer to a HEAD has only its length.
  std::shared_ptr<const std::string> body = nullptr;
  // Set if the body is a stream; then `body` is not used.
  std::shared_ptr<HttpStream> stream = nullptr;
};

using HttpHandler = std::function<HttpAnswer(const IncomingRequest& request)>;

// Decides what the server does with the connection after an answer.  kKeepAsAsked is for a client of HTTP/1.0, which
// needs a header that confirms that the connection is kept.
enum class AfterAnswer { kKeep, kKeepAsAsked, kClose };

// Returns the whole answer except for its body.
std::string HeadOf(const HttpAnswer& answer, std::string_view reason, AfterAnswer after);

}  // namespace pintle::net
