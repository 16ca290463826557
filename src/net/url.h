// SPDX-License-Identifier: Apache-2.0
#pragma once

// The target of a request: an http or https URL, checked and normalised.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::net {

class Url {
 public:
  // A user name or password in a URL is an error, because it would be written to logs.
  static Result<Url> Parse(std::string_view text);

  // Resolves a link or a Location relative to this URL (RFC 3986, section 5.2).
  Result<Url> Resolve(std::string_view reference) const;

  const std::string& text() const { return text_; }
  bool is_https() const { return scheme_ == "https"; }
  // In lower case; an IPv6 address is in brackets.
  const std::string& host() const { return host_; }
  std::uint16_t port() const { return port_; }

  // Returns "api.example.com:6443", the only part of a URL that an error message may contain, since paths and queries
  // can hold secrets.
  std::string HostAndPort() const;

  // Returns whether scheme, host and port are equal, so that secrets for this URL may be sent to the other one.
  bool SameOrigin(const Url& other) const;

 private:
  Url() = default;

  std::string text_;
  std::string scheme_;
  std::string host_;
  std::uint16_t port_ = 0;
};

}  // namespace pintle::net
