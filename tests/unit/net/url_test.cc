// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include "support/expect.h"

namespace pintle::net {
namespace {

Url Parsed(std::string_view text) { return ValueOf(Url::Parse(text)); }

TEST(Url, HasHostAndPort) {
  EXPECT_EQ(Parsed("https://api.example.com:6443/api?watch=1").HostAndPort(), "api.example.com:6443");
  EXPECT_EQ(Parsed("https://api.example.com").HostAndPort(), "api.example.com:443");
  EXPECT_EQ(Parsed("http://[fd00::1]/").HostAndPort(), "[fd00::1]:80");
}

TEST(Url, IsBroughtToItsNormalForm) {
  EXPECT_EQ(Parsed("HTTPS://API.Example.com/Path#part").text(), "https://api.example.com/Path");
  EXPECT_TRUE(Parsed("HTTPS://api").is_https());
  EXPECT_FALSE(Parsed("http://api").is_https());
}

TEST(Url, KeepsItsQueryAsItIs) {
  EXPECT_EQ(Parsed("https://api/x?fieldSelector=metadata.name%3Dnode-1").text(),
            "https://api/x?fieldSelector=metadata.name%3Dnode-1");
}

TEST(Url, RefusesOtherSchemesThanHttp) {
  for (const std::string text : {"", "api", "/path", "ftp://api/", "file:///etc/passwd", "https://", "http://a b/",
                                 "http://a\r\nb/", "http://api:99999/", "http://api:port/"}) {
    EXPECT_EQ(MessageOf(Url::Parse(text)), "not an http or https URL");
  }
}

TEST(Url, DoesNotReportThePasswordThatItRefuses) {
  EXPECT_EQ(MessageOf(Url::Parse("https://user:secret@api/")), "a URL must not have a user name or a password in it");
  EXPECT_EQ(MessageOf(Url::Parse("https://user:secret@a pi/")), "not an http or https URL");
  EXPECT_EQ(MessageOf(Parsed("https://api/").Resolve("https://user:secret@api/")),
            "a URL must not have a user name or a password in it");
}

TEST(Url, ResolvesReferences) {
  const Url base = Parsed("https://api:6443/a/b?c=d");
  EXPECT_EQ(ValueOf(base.Resolve("/x")).text(), "https://api:6443/x");
  EXPECT_EQ(ValueOf(base.Resolve("x?y")).text(), "https://api:6443/a/x?y");
  EXPECT_EQ(ValueOf(base.Resolve("//other/x")).text(), "https://other/x");
  EXPECT_EQ(ValueOf(base.Resolve("http://other/x")).text(), "http://other/x");
}

TEST(Url, IsOfTheSameOriginOnlyWithSchemeHostAndPort) {
  const Url url = Parsed("https://api/a");
  EXPECT_TRUE(url.SameOrigin(Parsed("https://API:443/b")));
  EXPECT_FALSE(url.SameOrigin(Parsed("http://api:443/a")));
  EXPECT_FALSE(url.SameOrigin(Parsed("https://api:6443/a")));
  EXPECT_FALSE(url.SameOrigin(Parsed("https://api.example/a")));
}

}  // namespace
}  // namespace pintle::net
