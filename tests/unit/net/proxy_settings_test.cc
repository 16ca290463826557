// SPDX-License-Identifier: Apache-2.0
#include "net/proxy_settings.h"

#include <cstdlib>
#include <map>

#include "net/url.h"
#include "support/expect.h"

namespace pintle::net {
namespace {

ProxySettings SettingsFrom(const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  ProxySettings settings = ProxySettings::FromEnvironment();
  for (const auto& [name, value] : environment) ::unsetenv(name.c_str());
  return settings;
}

TEST(ProxySettings, ComeFromTheEnvironment) {
  const ProxySettings settings =
      SettingsFrom({{"http_proxy", "http://a:1"}, {"https_proxy", "http://b:2"}, {"no_proxy", ".svc,10.0.0.0/8"}});
  EXPECT_EQ(settings.For(ValueOf(Url::Parse("http://x"))), "http://a:1");
  EXPECT_EQ(settings.For(ValueOf(Url::Parse("https://x"))), "http://b:2");
  EXPECT_EQ(settings.except, ".svc,10.0.0.0/8");
}

TEST(ProxySettings, PreferLowerCaseAndTheVariableOfTheScheme) {
  const ProxySettings settings = SettingsFrom({{"HTTP_PROXY", "http://a:1"},
                                               {"http_proxy", ""},
                                               {"HTTPS_PROXY", "http://b:2"},
                                               {"https_proxy", "http://c:3"},
                                               {"all_proxy", "http://d:4"}});
  EXPECT_EQ(settings.for_http, "http://a:1");
  EXPECT_EQ(settings.for_https, "http://c:3");
}

TEST(ProxySettings, AreEmptyByDefault) {
  EXPECT_EQ(SettingsFrom({}).for_https, "");
  EXPECT_EQ(SettingsFrom({{"ALL_PROXY", "socks5h://d:4"}}).for_https, "socks5h://d:4");
}

TEST(ProxyName, LeavesThePasswordOut) {
  EXPECT_EQ(NameOfProxy("http://user:p@ss@proxy.example:3128/").Text(), "proxy.example:3128");
  EXPECT_EQ(NameOfProxy("http://user:pa/ss@proxy.example:3128/").Text(), "proxy.example:3128");
  EXPECT_EQ(NameOfProxy("user:p?a#s/s@proxy.example:3128").Text(), "proxy.example:3128");
  EXPECT_EQ(NameOfProxy("http://proxy.example:3128?token").Text(), "proxy.example:3128");
  EXPECT_EQ(NameOfProxy("proxy.example").Text(), "proxy.example:1080");
  EXPECT_EQ(NameOfProxy("https://proxy.example").Text(), "proxy.example:443");
  EXPECT_EQ(NameOfProxy("http://[fd00::1]").Text(), "[fd00::1]:1080");
  EXPECT_EQ(NameOfProxy("http://[fd00::1]:8080").Text(), "[fd00::1]:8080");
}

}  // namespace
}  // namespace pintle::net
