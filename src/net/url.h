// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a request goes: an http or https URL, checked and in its normal form.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::net {

class Url {
 public:
  // A user name or password in a URL is refused: it would end up in logs.
  static Result<Url> Parse(std::string_view text);

  // What a link or a Location means that was found at this URL (RFC 3986, section 5.2).
  Result<Url> Resolve(std::string_view reference) const;

  const std::string& text() const { return text_; }
  bool is_https() const { return scheme_ == "https"; }
  // In lower case; an IPv6 address is in brackets.
  const std::string& host() const { return host_; }
  std::uint16_t port() const { return port_; }

  // "api.example.com:6443": all of a URL that an error message may tell, since paths and queries can hold secrets.
  std::string HostAndPort() const;

  // Whether what one may know, the other may too.
  bool SameOrigin(const Url& other) const;

 private:
  Url() = default;

  std::string text_;
  std::string scheme_;
  std::string host_;
  std::uint16_t port_ = 0;
};

}  // namespace pintle::net
