// SPDX-License-Identifier: Apache-2.0
#include "net/http_connection.h"

#include <array>
#include <boost/beast/http/status.hpp>
#include <utility>

namespace pintle::net {
namespace {

// The time that a client gets to read the last answer before the connection is closed.
constexpr auto kCloseTime = std::chrono::seconds(2);

std::string_view ReasonOf(int status) {
  namespace http = boost::beast::http;
  const auto reason = http::obsolete_reason(static_cast<http::status>(status));
  return {reason.data(), reason.size()};
}

HttpAnswer TryAgain() { return {.status = 503, .headers = {{"Retry-After", "1"}}}; }

}  // namespace

HttpConnection::HttpConnection(HttpServerState& server, asio::io_context& context, tcp::socket socket, Client client,
                               Gone gone)
    : server_(server),
      context_(context),
      socket_(std::move(socket)),
      client_(std::move(client)),
      gone_(std::move(gone)),
      identity_(server.identity()),
      wire_(socket_.native_handle(), identity_.get()),
      out_of_time_(context) {}

HttpConnection::~HttpConnection() {
  ForgetLater();
  gone_(*this);
}

void HttpConnection::Begin() {
  if (server_.is_stopping()) return End();
  EndAfter(server_.limits().head_time);
  Advance();
}

void HttpConnection::PrepareToStop() {
  if (step_ == &HttpConnection::AwaitLater) return ReplaceLater();
  const bool waits = step_ == &HttpConnection::ReadHead || step_ == &HttpConnection::ShakeHands;
  if ((input_.empty() && waits) || step_ == &HttpConnection::FollowStream) End();
}

void HttpConnection::End() {
  error_code ignored;  // The socket is closed in any case.
  socket_.close(ignored);
  out_of_time_.cancel();
  ForgetLater();
}

void HttpConnection::Advance() {
  // The connection may have ended after this call was queued, and its descriptor may belong to another connection.
  if (!socket_.is_open()) return;
  for (;;) {
    switch ((this->*step_)()) {
      case Outcome::kDone:
        if (std::exchange(must_yield_, false)) return Yield();
        break;
      case Outcome::kWaitToRead:
        return Await(HasReadEnough() ? tcp::socket::wait_error : tcp::socket::wait_read);
      case Outcome::kWaitToWrite:
        return Await(tcp::socket::wait_write);
      case Outcome::kClosed:
        return End();
    }
  }
}

void HttpConnection::Yield() {
  asio::post(context_, [self = shared_from_this()] { self->Advance(); });
}

void HttpConnection::Await(tcp::socket::wait_type condition) {
  socket_.async_wait(condition, [self = shared_from_this()](error_code failed) {
    if (!failed) self->Advance();
  });
}

void HttpConnection::CancelWaitAndAdvance() {
  error_code ignored;  // Afterwards nothing waits for the socket, and Advance() waits again.
  socket_.cancel(ignored);
  Advance();
}

void HttpConnection::EndAfter(std::chrono::milliseconds time) {
  deadline_ = std::chrono::steady_clock::now() + time;
  if (!alarm_ || deadline_ < *alarm_) SetAlarm();
}

void HttpConnection::SetAlarm() {
  alarm_ = deadline_;
  out_of_time_.expires_at(deadline_);
  out_of_time_.async_wait([alive = weak_from_this()](error_code failed) {
    const auto self = alive.lock();
    if (failed || !self) return;
    if (std::chrono::steady_clock::now() < self->deadline_) return self->SetAlarm();
    self->alarm_.reset();
    if (self->step_ == &HttpConnection::AwaitLater) return self->ReplaceLater();
    self->End();
  });
}

Wire::Outcome HttpConnection::ShakeHands() {
  const Outcome outcome = wire_.ShakeHands().outcome;
  if (outcome == Outcome::kDone) ExpectHead();
  return outcome;
}

void HttpConnection::ExpectHead() {
  parser_.emplace(RequestParser::Limits{.bytes = server_.limits().head, .fields = server_.limits().fields});
  step_ = &HttpConnection::ReadHead;
}

Wire::Outcome HttpConnection::ReadHead() {
  if (!input_.empty() && IsAnswerDue()) {
    // Free the parsed head now: it may be much larger than the request, and the client may read the answer slowly.
    parser_.reset();
    return Outcome::kDone;
  }
  std::array<char, 4096> bytes;
  const Wire::Progress progress = wire_.Read(bytes);
  if (progress.outcome != Outcome::kDone) return progress.outcome;
  if (is_idle_) EndAfter(server_.limits().head_time);
  is_idle_ = false;
  input_.append(bytes.data(), progress.bytes);
  return Outcome::kDone;
}

bool HttpConnection::IsAnswerDue() {
  switch (parser_->Parse(input_)) {
    case RequestParser::State::kIncomplete:
      return false;
    case RequestParser::State::kComplete:
      AnswerRequest();
      break;
    case RequestParser::State::kTooLarge:
      Answer({.status = 431}, AfterAnswer::kClose);
      break;
    case RequestParser::State::kMalformed:
      Answer({.status = 400}, AfterAnswer::kClose);
      break;
  }
  return true;
}

void HttpConnection::AnswerRequest() {
  if (!server_.AllowsRequest(client_.key)) return Answer(TryAgain(), AfterAnswer::kClose);
  const IncomingRequest request = parser_->Request(client_.peer);
  is_head_request_ = request.method == "HEAD";
  HttpAnswer answer = (*server_.handler())(request);
  const AfterAnswer after = parser_->WantedAfterAnswer();
  if (answer.later) return AnswerLater(std::move(answer.later), after);
  Answer(std::move(answer), after);
}

void HttpConnection::AnswerLater(std::shared_ptr<LaterAnswer> later, AfterAnswer after) {
  auto count = server_.AddLater(client_.key);
  if (!count) {
    later->Abandon();
    return Answer(TryAgain(), AfterAnswer::kClose);
  }
  later->CountAs(std::move(count));
  later_ = std::move(later);
  after_later_ = after;
  EndAfter(server_.limits().later_answer_time);
  step_ = &HttpConnection::AwaitLater;
}

Wire::Outcome HttpConnection::AwaitLater() {
  const auto make = later_->Take([&context = context_, waiting = weak_from_this()] {
    asio::post(context, [waiting] {
      const auto self = waiting.lock();
      if (self && self->step_ == &HttpConnection::AwaitLater) self->CancelWaitAndAdvance();
    });
  });
  if (make) {
    ForgetLater();
    Answer(make(), after_later_);
    return Outcome::kDone;
  }
  if (HasReadEnough()) return Outcome::kWaitToRead;
  std::array<char, 4096> bytes;
  const Wire::Progress progress = wire_.Read(bytes);
  input_.append(bytes.data(), progress.bytes);
  must_yield_ = progress.outcome == Outcome::kDone;
  return progress.outcome;
}

bool HttpConnection::HasReadEnough() const {
  return step_ == &HttpConnection::AwaitLater && input_.size() >= server_.limits().head;
}

void HttpConnection::ReplaceLater() {
  if (!socket_.is_open()) return;
  ForgetLater();
  Answer(TryAgain(), AfterAnswer::kClose);
  CancelWaitAndAdvance();
}

void HttpConnection::ForgetLater() {
  if (!later_) return;
  later_->Abandon();
  later_ = nullptr;
}

void HttpConnection::Answer(HttpAnswer answer, AfterAnswer after) {
  if (answer.stream) after = AfterAnswer::kClose;
  closes_ = after == AfterAnswer::kClose;
  output_ = HeadOf(answer, ReasonOf(answer.status), after);
  body_ = is_head_request_ || answer.stream ? nullptr : std::move(answer.body);
  stream_ = is_head_request_ ? nullptr : std::move(answer.stream);
  written_ = 0;
  const std::size_t seconds = (body_ ? body_->size() : 0) / server_.limits().bytes_per_second;
  EndAfter(server_.limits().answer_time + std::chrono::seconds(seconds));
  step_ = &HttpConnection::WriteHead;
}

Wire::Outcome HttpConnection::WriteHead() {
  const Outcome outcome = WriteSome(output_);
  if (outcome == Outcome::kDone && written_ == output_.size()) {
    written_ = 0;
    step_ = stream_ ? &HttpConnection::FollowStream : &HttpConnection::WriteBody;
  }
  return outcome;
}

Wire::Outcome HttpConnection::FollowStream() {
  if (body_ && written_ < body_->size()) return WriteSome(*body_);
  written_ = 0;
  body_ = stream_->Next([&context = context_, waiting = weak_from_this()] {
    asio::post(context, [waiting] {
      if (const auto self = waiting.lock()) self->WakeFromStream();
    });
  });
  const bool was_waiting = std::exchange(waits_for_piece_, !body_);
  if (!body_ && stream_->IsOver()) {
    BeginClosing();
    return Outcome::kDone;
  }
  // Data from the client does not extend the time without a piece.
  if (body_ || !was_waiting) EndAfter(body_ ? server_.limits().answer_time : server_.limits().stream_idle_time);
  return body_ ? Outcome::kDone : DiscardSome();
}

void HttpConnection::WakeFromStream() {
  if (socket_.is_open() && step_ == &HttpConnection::FollowStream) CancelWaitAndAdvance();
}

Wire::Outcome HttpConnection::WriteBody() {
  if (!body_ || written_ == body_->size()) {
    FinishAnswer();
    return Outcome::kDone;
  }
  return WriteSome(*body_);
}

Wire::Outcome HttpConnection::WriteSome(std::string_view all) {
  const Wire::Progress progress = wire_.Write(all.substr(written_));
  written_ += progress.bytes;
  return progress.outcome;
}

void HttpConnection::FinishAnswer() {
  body_ = nullptr;
  is_head_request_ = false;
  // A client that has sent a thousand requests at once must not keep other clients waiting until all are answered.
  must_yield_ = true;
  if (closes_ || server_.is_stopping()) return BeginClosing();
  is_idle_ = input_.empty();
  EndAfter(is_idle_ ? server_.limits().idle_time : server_.limits().head_time);
  ExpectHead();
}

void HttpConnection::BeginClosing() {
  EndAfter(kCloseTime);
  step_ = &HttpConnection::EndSending;
}

Wire::Outcome HttpConnection::EndSending() {
  const Outcome outcome = wire_.EndSending().outcome;
  if (outcome == Outcome::kDone) step_ = &HttpConnection::AwaitEnd;
  return outcome;
}

Wire::Outcome HttpConnection::AwaitEnd() { return DiscardSome(); }

Wire::Outcome HttpConnection::DiscardSome() {
  std::array<char, 16 << 10> bytes;
  const Outcome outcome = wire_.Discard(bytes).outcome;
  // A client that sends without end must not keep other clients, or the timers, waiting.
  must_yield_ = outcome == Outcome::kDone;
  return outcome;
}

}  // namespace pintle::net
