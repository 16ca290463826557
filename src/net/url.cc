// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <fmt/core.h>

#include <charconv>

#include "base/ascii.h"
#include "base/c_ptr.h"
#include "net/curl_library.h"

namespace pintle::net {
namespace {

void FreeUrl(CURLU* url) { Curl().url_cleanup(url); }
void FreeText(char* text) { Curl().free(text); }

using CurlUrl = CPtr<CURLU, FreeUrl>;
using CurlText = CPtr<char, FreeText>;

// The message leaves the text out, because the text may contain a password or a token.
Error NotAUrl() { return Error(ErrorKind::kInvalid, "not an http or https URL"); }

bool HasUnprintable(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return true;
  }
  return false;
}

// Sets a whole URL, or resolves a relative URL against the current one.
Result<> SetUrl(CURLU* url, std::string_view text) {
  if (text.empty() || HasUnprintable(text)) return NotAUrl();
  const CURLUcode put = Curl().url_set(url, CURLUPART_URL, std::string(text).c_str(), CURLU_DISALLOW_USER);
  if (put == CURLUE_USER_NOT_ALLOWED) {
    return Error(ErrorKind::kInvalid, "a URL must not have a user name or a password in it");
  }
  if (put != CURLUE_OK) return NotAUrl();
  return {};
}

std::string PartOf(CURLU* url, CURLUPart part, unsigned flags = 0) {
  CurlText text;
  Curl().url_get(url, part, Out(text), flags);
  return text ? text.get() : "";
}

struct Parts {
  std::string text;
  std::string scheme;
  std::string host;
  std::uint16_t port;
};

Result<Parts> Normalised(CURLU* url) {
  Parts parts;
  parts.scheme = InLowerCase(PartOf(url, CURLUPART_SCHEME));
  parts.host = InLowerCase(PartOf(url, CURLUPART_HOST));
  const std::string port = PartOf(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), parts.port);
  const bool is_http = parts.scheme == "http" || parts.scheme == "https";
  if (!is_http || parts.host.empty() || failure != std::errc() || end != port.data() + port.size()) {
    return NotAUrl();
  }
  Curl().url_set(url, CURLUPART_HOST, parts.host.c_str(), 0);
  Curl().url_set(url, CURLUPART_FRAGMENT, nullptr, 0);  // A fragment is never sent.
  parts.text = PartOf(url, CURLUPART_URL);
  return parts;
}

}  // namespace

Result<Url> Url::Parse(std::string_view text) {
  const CurlUrl curl(TRY(LoadCurl())->url());
  TRY(SetUrl(curl.get(), text));
  Parts parts = TRY(Normalised(curl.get()));
  Url url;
  url.text_ = std::move(parts.text);
  url.scheme_ = std::move(parts.scheme);
  url.host_ = std::move(parts.host);
  url.port_ = parts.port;
  return url;
}

Result<Url> Url::Resolve(std::string_view reference) const {
  const CurlUrl curl(TRY(LoadCurl())->url());
  TRY(SetUrl(curl.get(), text_));
  TRY(SetUrl(curl.get(), reference));
  return Parse(PartOf(curl.get(), CURLUPART_URL));
}

std::string Url::HostAndPort() const { return fmt::format("{}:{}", host_, port_); }

bool Url::SameOrigin(const Url& other) const {
  return scheme_ == other.scheme_ && host_ == other.host_ && port_ == other.port_;
}

}  // namespace pintle::net
