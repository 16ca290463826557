// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server whose answer a test chooses, and which counts the requests.

#include <atomic>
#include <memory>
#include <string>

#include "net/http_server.h"
#include "support/expect.h"

namespace pintle::gates {

class AnsweringServer {
 public:
  explicit AnsweringServer(int first_status, std::shared_ptr<const net::TlsIdentity> identity = nullptr)
      : status_(first_status),
        scheme_(identity ? "https" : "http"),
        server_(ValueOf(net::HttpServer::Begin({.listen = {"127.0.0.1", 0}, .identity = identity}, [this](const auto&) {
          ++requests_;
          return net::HttpAnswer{.status = status_, .body = std::make_shared<const std::string>(body_)};
        }))) {}

  void Answer(int status) { status_ = status; }
  int requests() const { return requests_; }
  std::string Url(const std::string& path = "/") const {
    return scheme_ + "://" + net::ToText(server_->address()) + path;
  }

 private:
  std::atomic<int> status_;
  std::atomic<int> requests_ = 0;
  const std::string body_ = "<html>the answer</html>";
  const std::string scheme_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace pintle::gates
