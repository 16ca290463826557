// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests that our HTTP client sends, and the answers of servers, as plain data.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/url.h"

namespace pintle::net {

struct Header {
  std::string name;
  std::string value;
  bool operator==(const Header&) const = default;
};

struct HttpTimeouts {
  // The limit for making the connection: DNS, TCP, the proxy and TLS.
  std::chrono::milliseconds connect = std::chrono::seconds(15);
  // The limit between two pieces of the answer, and before the first.  A stream that may be silent for long needs
  // another limit.
  std::optional<std::chrono::milliseconds> stall = std::chrono::seconds(60);
  // The limit from the start to the end, including redirects.  A stream without an end needs no such limit.
  std::optional<std::chrono::milliseconds> whole = std::chrono::minutes(2);
};

enum class Compression { kNotAccepted, kAccepted };

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

struct HttpRequest {
  std::string method = "GET";
  Url url;
  std::vector<Header> headers = {};
  std::string body = {};
  std::string bearer_token = {};  // Without "Bearer "; empty for no token.

  HttpTimeouts timeouts = {};
  // The limit of the body's size, before and after decompression.  A longer body is an error.
  std::uint64_t body_limit = 64 << 20;
  // The number of redirects that are followed.  With 0, a redirect is an answer like any other.  A redirect may lead
  // from http to https but never back, and tokens, cookies and the client certificate are sent only to the first
  // server.
  int redirects_followed = 0;
  Compression compression = Compression::kNotAccepted;
};

// Returns an error if the request must not be sent, for instance because a header could smuggle a second request.
Result<> Check(const HttpRequest& request);

enum class HttpVersion { kHttp1, kHttp2 };

struct HttpHead {
  int status = 0;
  HttpVersion version = HttpVersion::kHttp1;
  std::vector<Header> headers;

  // Returns the value of the first header with this name.  Upper and lower case count as equal.
  std::optional<std::string_view> Find(std::string_view name) const;
};

struct HttpResponse {
  HttpHead head;
  std::string body;
};

// Parses the head of an answer, one line at a time as they arrive.
class HeadReader {
 public:
  enum class State { kMore, kComplete };

  // Returns kComplete after the empty line that ends the head.  Interim heads (1xx) are skipped.
  Result<State> AddLine(std::string_view line);
  const HttpHead& head() const { return head_; }

 private:
  HttpHead head_;
  std::size_t size_ = 0;
};

// Returns whether a header has this name.  Upper and lower case count as equal.
bool IsNamed(const Header& header, std::string_view name);

// Returns whether this header identifies us to a server.
bool IsCredential(const Header& header);

}  // namespace pintle::net
