// SPDX-License-Identifier: Apache-2.0
#include "net/http_message.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace pintle::net {
namespace {

// No server sends a longer head for a good reason.
constexpr std::size_t kHeadLimit = 256 << 10;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Returns whether the text is a token of RFC 9110, section 5.6.2.
bool IsToken(std::string_view text) {
  const auto allowed = [](char c) {
    return IsLetterOrDigit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

std::optional<HttpHead> ReadStatusLine(std::string_view line) {
  if (!line.starts_with("HTTP/")) return std::nullopt;
  HttpHead head;
  head.version = line.starts_with("HTTP/2") ? HttpVersion::kHttp2 : HttpVersion::kHttp1;
  const std::string_view status = Trimmed(line.substr(std::min(line.find(' '), line.size())));
  std::from_chars(status.data(), status.data() + status.size(), head.status);
  return head;
}

}  // namespace

Result<> Check(const HttpRequest& request) {
  if (!IsToken(request.method)) return Error(ErrorKind::kInvalid, "the method of a request has an invalid character");
  for (const Header& header : request.headers) {
    if (!IsToken(header.name)) return Error(ErrorKind::kInvalid, "the name of a header has an invalid character");
    if (HasControlCharacter(header.value)) {
      return Error(ErrorKind::kInvalid, fmt::format("the header {} has a control character in it", header.name));
    }
  }
  if (HasControlCharacter(request.bearer_token)) {
    return Error(ErrorKind::kInvalid, "the bearer token has a control character in it");
  }
  if (request.redirects_followed > 0 && request.method != "GET" && request.method != "HEAD") {
    return Error(ErrorKind::kInvalid, fmt::format("redirects of a {} request cannot be followed", request.method));
  }
  return {};
}

std::optional<std::string_view> HttpHead::Find(std::string_view name) const {
  for (const Header& header : headers) {
    if (IsNamed(header, name)) return header.value;
  }
  return std::nullopt;
}

Result<HeadReader::State> HeadReader::AddLine(std::string_view line) {
  size_ += line.size();
  if (size_ > kHeadLimit) {
    return Error(ErrorKind::kInvalid, fmt::format("the head of the answer is longer than {} bytes", kHeadLimit));
  }
  if (const auto status = ReadStatusLine(line)) {
    head_ = *status;
    return State::kMore;
  }
  if (Trimmed(line).empty()) return head_.status >= 200 ? State::kComplete : State::kMore;
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    head_.headers.push_back({std::string(line.substr(0, colon)), std::string(Trimmed(line.substr(colon + 1)))});
  }
  return State::kMore;
}

bool IsNamed(const Header& header, std::string_view name) { return SameIgnoringCase(header.name, name); }

bool IsCredential(const Header& header) {
  return IsNamed(header, "Authorization") || IsNamed(header, "Cookie") || IsNamed(header, "Proxy-Authorization");
}

}  // namespace pintle::net
