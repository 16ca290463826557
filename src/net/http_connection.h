// SPDX-License-Identifier: Apache-2.0
#pragma once

// A connection of a client to our HTTP server, from the handshake to the last answer.
//
// A connection runs through a sequence of steps.  A step that would block is repeated when the socket is ready.  The
// handlers that wait for the socket own the connection; it is destroyed when no handler is left.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/boost_asio.h"
#include "net/http_answer.h"
#include "net/http_server_state.h"
#include "net/request_parser.h"
#include "net/tls_identity.h"
#include "net/wire.h"

namespace pintle::net {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  struct Client {
    std::string key;   // As ClientKeyOf() defines it.
    std::string peer;  // The address and the port.
  };
  // Called by the destructor.
  using Gone = std::function<void(HttpConnection& connection)>;

  // The socket must be non-blocking.  All functions are called on the thread that runs `context`; the destructor may
  // also be called by the destructor of `context`.
  HttpConnection(HttpServerState& server, asio::io_context& context, tcp::socket socket, Client client, Gone gone);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  const Client& client() const { return client_; }

  void Begin();
  // Called when the server stops.  Ends the connection if it waits for a request or sends a stream.  If it waits for a
  // LaterAnswer, answers 503 instead.
  void PrepareToStop();

 private:
  using Outcome = Wire::Outcome;
  using Step = Outcome (HttpConnection::*)();

  // These functions are steps.  Each sets the next step when it is done.
  Outcome ShakeHands();
  Outcome ReadHead();
  // Waits for the LaterAnswer of a request, and reads meanwhile, to notice when the client leaves.  Only the beginning
  // of the next requests is kept in memory.
  Outcome AwaitLater();
  Outcome WriteHead();
  Outcome WriteBody();
  // Sends the pieces of a stream.  Between two pieces, it waits until the client closes the connection or the stream
  // calls WakeFromStream().
  Outcome FollowStream();
  // These two steps end a connection: the first closes only our direction, and the second discards what the client
  // still sends.  Closing a socket with unread data would reset the connection, and the client could lose the answer.
  Outcome EndSending();
  Outcome AwaitEnd();

  // Runs steps until one has to wait.
  void Advance();
  // Lets the thread serve other connections before the next step.
  void Yield();
  void Await(tcp::socket::wait_type condition);
  // Advances after an event that the socket does not report, such as a new piece of a stream.
  void CancelWaitAndAdvance();
  void End();

  // Sets the deadline at which the connection ends, or at which ReplaceLater() is called.  A timer that fires before
  // the deadline is not set again, to save calls; when it has fired, SetAlarm() sets it for the deadline.
  void EndAfter(std::chrono::milliseconds time);
  void SetAlarm();

  // Prepares for a head, of which a part may have been read already.
  void ExpectHead();
  // Parses the received bytes.  Returns whether an answer is due, even if only because the head is invalid.
  bool IsAnswerDue();
  void AnswerRequest();
  void Answer(HttpAnswer answer, AfterAnswer after);
  void AnswerLater(std::shared_ptr<LaterAnswer> later, AfterAnswer after);
  // Returns whether the connection waits for a LaterAnswer and keeps as much of the next requests as it may.
  bool HasReadEnough() const;
  // Answers 503 instead of waiting for the LaterAnswer any longer.
  void ReplaceLater();
  void ForgetLater();
  void WakeFromStream();
  Outcome WriteSome(std::string_view all);
  void FinishAnswer();
  void BeginClosing();
  Outcome DiscardSome();

  HttpServerState& server_;
  asio::io_context& context_;
  tcp::socket socket_;
  const Client client_;
  const Gone gone_;
  const std::shared_ptr<const TlsIdentity> identity_;
  Wire wire_;
  asio::steady_timer out_of_time_;
  std::chrono::steady_clock::time_point deadline_;
  std::optional<std::chrono::steady_clock::time_point> alarm_;  // When `out_of_time_` fires; unset if the timer is off.
  Step step_ = &HttpConnection::ShakeHands;

  std::string input_;  // Received bytes of later requests or of an incomplete one.
  std::optional<RequestParser> parser_;
  bool is_idle_ = false;
  bool is_head_request_ = false;

  std::string output_;
  std::shared_ptr<const std::string> body_;  // For a stream, the piece that is being sent.
  std::shared_ptr<HttpStream> stream_;
  bool waits_for_piece_ = false;
  std::size_t written_ = 0;  // Counts the bytes of the head, then those of the body.
  bool closes_ = false;      // Whether the connection ends after the present answer.
  bool must_yield_ = false;  // Whether other connections of the thread are served before the next step.

  std::shared_ptr<LaterAnswer> later_;  // Set while the connection waits for it.
  AfterAnswer after_later_ = AfterAnswer::kClose;
};

}  // namespace pintle::net
