// SPDX-License-Identifier: Apache-2.0
#pragma once

// One request to the API server and its answer, with our credentials as they are now.
//
// An answer that is not 2xx is a failure here, and what it says is read.  A body is handed on as it comes.  Only the
// proxy stays the one that it was at the start.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/access.h"
#include "kube/call.h"
#include "kube/failure.h"
#include "net/http_client.h"

namespace pintle::event {
class Loop;
}  // namespace pintle::event

namespace pintle::kube {

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // With its query.
  std::string content_type = {};
  std::string body = {};
  std::string doing = {};  // For messages: "reading Node worker-1".
  net::HttpTimeouts timeouts = {};
  std::uint64_t body_limit = net::kUnlimited;
};

struct ApiReceiver {
  // Gets the body in pieces.  An error ends the request with it.
  std::function<Result<>(std::string_view piece)> body;
  // Nothing: all went well.
  std::function<void(std::optional<Failure> failure)> end;
};

class Transport : public std::enable_shared_from_this<Transport> {
 public:
  static Result<std::shared_ptr<Transport>> Create(event::Loop& loop, Access access);

  // The receiver is called from the loop, never from within this.
  Call Start(ApiRequest request, ApiReceiver receiver);

  event::Loop& loop() { return loop_; }

 private:
  class Exchange;

  Transport(event::Loop& loop, Access access, net::HttpClient http)
      : loop_(loop), access_(std::move(access)), http_(std::move(http)) {}
  Result<net::HttpRequest> Prepare(ApiRequest request);

  event::Loop& loop_;
  Access access_;
  net::HttpClient http_;
};

}  // namespace pintle::kube
