// SPDX-License-Identifier: Apache-2.0
#pragma once

// Through which proxies requests go.

#include <string>

namespace pintle::net {

class Url;

struct ProxySettings {
  std::string for_http = {};   // The proxy's URL, which may have a user name and a password; empty: none.
  std::string for_https = {};  // The same, for https, which goes through the proxy as a tunnel.
  std::string except = {};  // Hosts, domains and networks that are reached directly, separated by commas; "*" is all.

  // http_proxy, https_proxy, all_proxy and no_proxy, in lower or in upper case.
  static ProxySettings FromEnvironment();

  const std::string& For(const Url& url) const;
};

// The proxy as a message may tell it: without a user name and password, and with its port.
struct ProxyName {
  std::string host;
  std::string port;
  std::string Text() const { return host + ":" + port; }
};
ProxyName NameOfProxy(const std::string& proxy_url);

}  // namespace pintle::net
