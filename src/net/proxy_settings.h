// SPDX-License-Identifier: Apache-2.0
#pragma once

// The proxies that requests use.

#include <string>

namespace pintle::net {

class Url;

struct ProxySettings {
  std::string for_http = {};   // The proxy's URL, which may have a user name and a password; empty for none.
  std::string for_https = {};  // The proxy for https, through which requests are tunnelled.
  std::string except = {};     // Hosts, domains and networks to reach directly, separated by commas; "*" is all.

  // Reads http_proxy, https_proxy, all_proxy and no_proxy, in lower or upper case.
  static ProxySettings FromEnvironment();

  // Returns the proxy for the scheme of a URL, or "".  Does not check whether `except` has the host, since curl does.
  const std::string& For(const Url& url) const;
};

// A proxy as messages name it: without user name and password, and with its port.
struct ProxyName {
  std::string host;
  std::string port;
  std::string Text() const { return host + ":" + port; }
};
ProxyName NameOfProxy(const std::string& proxy_url);

}  // namespace pintle::net
