// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests that our HTTP server receives, and its answers.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"

namespace pintle::net {

// A request.  Its texts are valid only during the call of the handler.
struct IncomingRequest {
  struct Field {
    std::string_view name;
    std::string_view value;
  };

  std::string_view method;
  std::string_view target;  // The path and the query, as the client has sent them.
  std::string_view peer;    // The address and the port of the client.
  std::vector<Field> headers;

  // Returns the value of the first header with this name.  Upper and lower case count as equal.
  std::optional<std::string_view> Find(std::string_view name) const;
};

// A body of unknown length: the server sends each piece as soon as the stream has it, until the connection ends.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Returns the next piece.  If there is none yet, returns nullptr, and later calls `wake` when there is one.  `wake`
  // may be called from any thread, but not during this call.  A second call of Next() replaces the `wake` of the first
  // one.
  virtual std::shared_ptr<const std::string> Next(std::function<void()> wake) = 0;
  // Returns whether there will be no further piece, so that the server closes the connection.  The server asks when
  // Next() has returned nullptr.
  virtual bool IsOver() const { return false; }
};

class LaterAnswer;

struct HttpAnswer {
  int status = 200;
  std::vector<Header> headers = {};  // Without Content-Length, Date and Connection, which the server adds.
  // Several answers may share a body.  The answer to a HEAD has only its length.
  std::shared_ptr<const std::string> body = nullptr;
  // Set if the body is a stream; then `body` is not used.
  std::shared_ptr<HttpStream> stream = nullptr;
  // Set if the answer is not known yet; then nothing else is used.
  std::shared_ptr<LaterAnswer> later = nullptr;
};

using HttpHandler = std::function<HttpAnswer(const IncomingRequest& request)>;

// An answer that a handler cannot give yet.  The handler returns it in HttpAnswer::later and keeps a copy, with which
// someone completes it:
//
//     auto later = std::make_shared<LaterAnswer>();
//     loop.Post([later] { ... later->Complete([] { return HttpAnswer{.status = 200}; }); });
//     return {.later = later};
//
// All functions may be called from any thread, even when the client has left or the server no longer exists.
class LaterAnswer {
 public:
  // Makes the answer.  A thread of the server calls this, so it may take as long as a handler may.
  using Make = std::function<HttpAnswer()>;

  LaterAnswer() = default;
  LaterAnswer(const LaterAnswer&) = delete;
  LaterAnswer& operator=(const LaterAnswer&) = delete;

  // Only the first call counts.  `make` must not return another later answer.
  void Complete(Make make);
  // Returns false when the client has left or has got another answer, so that no answer is needed any more.
  bool IsAwaited() const;

  // For the server: keeps `count`, by which a LaterCounter counts this answer, until the answer is completed or this
  // object is destroyed.
  void CountAs(std::shared_ptr<const void> count);
  // For the server.  Returns the function that Complete() got.  If there is none yet, returns nullptr, and later calls
  // `wake` when there is one.  `wake` must return at once, and must not call functions of this class.
  Make Take(std::function<void()> wake);
  // For the server: `wake` is not called after this returns.
  void Abandon();

 private:
  mutable std::mutex mutex_;  // Guards the members below.
  Make make_;
  std::function<void()> wake_;
  std::shared_ptr<const void> count_;
  bool is_completed_ = false;
  bool is_abandoned_ = false;
};

// Owns a copy of a request, for an answer that is made after the handler has returned.
class KeptRequest {
 public:
  explicit KeptRequest(const IncomingRequest& request);

  // Returns the request, which is valid as long as this object exists.
  IncomingRequest View() const;

 private:
  std::string method_;
  std::string target_;
  std::string peer_;
  std::vector<Header> headers_;
};

// Decides what the server does with the connection after an answer.  kKeepAsAsked is for a client of HTTP/1.0, which
// needs a header that confirms that the connection is kept.
enum class AfterAnswer { kKeep, kKeepAsAsked, kClose };

// Returns the whole answer except for its body.  `reason` is the text behind the status, such as "Not Found".
std::string HeadOf(const HttpAnswer& answer, std::string_view reason, AfterAnswer after);

}  // namespace pintle::net
