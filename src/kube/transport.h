// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends one request to the API server with our current credentials, and receives its answer.
//
// An answer that is not 2xx becomes a failure, with the message of its Status.  A body is delivered as it arrives.
// The credentials are read again for each request, but the proxy is chosen once, when the transport is created.

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
  std::string path;  // Includes the query.
  std::string content_type = {};
  std::string body = {};
  std::string doing = {};  // For messages, such as "reading Node worker-1".
  net::HttpTimeouts timeouts = {};
  std::uint64_t body_limit = net::kUnlimited;
  bool has_secrets = false;  // Whether the message of a refusal is dropped, because it may quote a secret.
};

struct ApiReceiver {
  // Gets the body in pieces.  If this function returns an error, the request ends with that error.
  std::function<Result<>(std::string_view piece)> body;
  // Gets nullopt on success.
  std::function<void(std::optional<Failure> failure)> end;
};

class Transport : public std::enable_shared_from_this<Transport> {
 public:
  static Result<std::shared_ptr<Transport>> Create(event::Loop& loop, Access access);

  // The receiver is called from the loop, never from within Start().
  //
  // For some seconds after its start, an API server does not know the paths of custom resources.  Therefore an answer
  // that the path is unknown counts only if the server is ready; otherwise the failure is kUnavailable.
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
