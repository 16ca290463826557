// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a server is asked and what it answers, as plain data.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"

namespace pintle::net {

// Of letters of ASCII alone, which is all that names in HTTP have.
bool SameIgnoringCase(std::string_view a, std::string_view b);

// What is asked; it lives as long as the call of the handler.
struct IncomingRequest {
  struct Field {
    std::string_view name;
    std::string_view value;
  };

  std::string_view method;
  std::string_view target;  // As it was sent: the path, and what stands behind "?".
  std::string_view peer;    // The address and the port of the client.
  std::vector<Field> headers;

  // The first header of this name, in whatever case it was sent.
  std::optional<std::string_view> Find(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::vector<Header> headers = {};  // Content-Length, Date and Connection come by themselves.
  // Many answers may share one.  To a HEAD its length alone is told.
  std::shared_ptr<const std::string> body = nullptr;
};

using HttpHandler = std::function<HttpAnswer(const IncomingRequest& request)>;

// What becomes of the connection after an answer; a client of HTTP/1.0 wants to be told that it stays.
enum class AfterAnswer { kKeep, kKeepAsAsked, kClose };

// All of an answer but its body.
std::string HeadOf(const HttpAnswer& answer, std::string_view reason, AfterAnswer after);

}  // namespace pintle::net
