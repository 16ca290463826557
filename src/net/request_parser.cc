// SPDX-License-Identifier: Apache-2.0
#include "net/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <iterator>
#include <limits>

namespace pintle::net {
namespace {

std::string_view ToView(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

class RequestParser::Parsed {
 public:
  boost::beast::http::request_parser<boost::beast::http::empty_body> parser;

  bool NamesItsHost() const {
    const auto& message = parser.get();
    return message.version() == 10 || message.count(boost::beast::http::field::host) == 1;
  }
  bool HasBody() const {
    return !parser.is_done() || parser.get().count(boost::beast::http::field::transfer_encoding) > 0;
  }
  std::size_t CountFields() const {
    const auto& fields = parser.get();
    return static_cast<std::size_t>(std::distance(fields.begin(), fields.end()));
  }
};

RequestParser::RequestParser(const Limits& limits) : limits_(limits), parsed_(std::make_unique<Parsed>()) {
  parsed_->parser.eager(false);
  parsed_->parser.header_limit(static_cast<std::uint32_t>(limits.bytes));
  // Without a limit, Boost 1.74 would refuse each request that has a Content-Length.
  parsed_->parser.body_limit(std::numeric_limits<std::uint64_t>::max());
}

RequestParser::~RequestParser() = default;

RequestParser::State RequestParser::Parse(std::string& received) {
  using boost::beast::http::error;
  boost::system::error_code failed;
  received.erase(0, parsed_->parser.put(boost::asio::buffer(received), failed));
  if (parsed_->CountFields() > limits_.fields) return State::kTooLarge;
  if (failed == error::need_more) return State::kIncomplete;
  if (failed == error::header_limit || failed == error::buffer_overflow) return State::kTooLarge;
  if (failed) return State::kMalformed;
  if (!parsed_->parser.is_header_done()) return State::kIncomplete;
  return parsed_->NamesItsHost() ? State::kComplete : State::kMalformed;
}

IncomingRequest RequestParser::Request(std::string_view peer) const {
  const auto& message = parsed_->parser.get();
  IncomingRequest request = {ToView(message.method_string()), ToView(message.target()), peer, {}};
  for (const auto& field : message) request.headers.push_back({ToView(field.name_string()), ToView(field.value())});
  return request;
}

AfterAnswer RequestParser::WantedAfterAnswer() const {
  const auto& message = parsed_->parser.get();
  if (parsed_->HasBody() || !message.keep_alive()) return AfterAnswer::kClose;
  return message.version() == 10 ? AfterAnswer::kKeepAsAsked : AfterAnswer::kKeep;
}

}  // namespace pintle::net
