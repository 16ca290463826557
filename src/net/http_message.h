// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is asked of a server and what it answers, as plain data.

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
  // For the connection: finding the address, TCP, the proxy and TLS.
  std::chrono::milliseconds connect = std::chrono::seconds(15);
  // Between two pieces of the answer, and before the first.  A stream that may be silent for long has its own.
  std::optional<std::chrono::milliseconds> stall = std::chrono::seconds(60);
  // From the start to the end, redirects included.  A stream has none.
  std::optional<std::chrono::milliseconds> whole = std::chrono::minutes(2);
};

enum class Compression { kNotAccepted, kAccepted };

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

struct HttpRequest {
  std::string method = "GET";
  Url url;
  std::vector<Header> headers = {};
  std::string body = {};
  std::string bearer_token = {};  // Without "Bearer "; empty: none.

  HttpTimeouts timeouts = {};
  // A longer body is an error; so is a longer one once it is decompressed.
  std::uint64_t body_limit = 64 << 20;
  // With none, a redirect is an answer like any other.  What is followed may go from http to https but never back, and
  // tells tokens, cookies and the client certificate only to the first server.
  int redirects_followed = 0;
  Compression compression = Compression::kNotAccepted;
};

// Why a request cannot be sent as it is; a message that could smuggle a second one is never sent.
Result<> Check(const HttpRequest& request);

enum class HttpVersion { kHttp1, kHttp2 };

struct HttpHead {
  int status = 0;
  HttpVersion version = HttpVersion::kHttp1;
  std::vector<Header> headers;

  // The first header of this name, in whatever case it was sent.
  std::optional<std::string_view> Find(std::string_view name) const;
};

struct HttpResponse {
  HttpHead head;
  std::string body;
};

// Reads the head of an answer line by line, as they come from the wire.
class HeadReader {
 public:
  enum class State { kMore, kComplete };

  // A complete head has its last, empty line; one that only says that another will follow (1xx) is passed over.
  Result<State> Line(std::string_view line);
  const HttpHead& head() const { return head_; }

 private:
  HttpHead head_;
  std::size_t size_ = 0;
};

bool IsNamed(const Header& header, std::string_view name);

// Whether this header tells a server who we are.
bool IsCredential(const Header& header);

}  // namespace pintle::net
