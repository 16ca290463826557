// SPDX-License-Identifier: Apache-2.0
#include "net/proxy_settings.h"

#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "net/url.h"

namespace pintle::net {
namespace {

std::string FirstSet(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    const char* value = ::secure_getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

}  // namespace

ProxySettings ProxySettings::FromEnvironment() {
  // curl ignores HTTP_PROXY because a CGI program gets that variable from its client.  We are never a CGI program,
  // and OpenShift sets HTTP_PROXY and not http_proxy.
  return {.for_http = FirstSet({"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}),
          .for_https = FirstSet({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}),
          .except = FirstSet({"no_proxy", "NO_PROXY"})};
}

const std::string& ProxySettings::For(const Url& url) const { return url.is_https() ? for_https : for_http; }

ProxyName NameOfProxy(const std::string& proxy_url) {
  std::string_view authority = proxy_url;
  std::string_view scheme = "http";
  if (const std::size_t end = authority.find("://"); end != std::string_view::npos) {
    scheme = authority.substr(0, end);
    authority.remove_prefix(end + 3);
  }
  // The password is removed first, because it may contain a slash that should have been written as %2F.
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const std::size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  // These are curl's defaults: 1080 for any proxy but an https one.
  if (!has_port) return {.host = std::string(authority), .port = scheme == "https" ? "443" : "1080"};
  return {.host = std::string(authority.substr(0, colon)), .port = std::string(authority.substr(colon + 1))};
}

}  // namespace pintle::net
