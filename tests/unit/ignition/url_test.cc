// SPDX-License-Identifier: Apache-2.0
#include "ignition/url.h"

#include <string>

#include "support/expect.h"

namespace pintle::ignition {
namespace {

TEST(Url, HasASchemeInLowerCase) { EXPECT_EQ(ValueOf(ParseUrl("HTTP://host/path")).scheme, "http"); }

TEST(Url, IsRefusedIfIgnitionRefusesIt) {
  for (const char* url : {"://x", "http://h:bad/", "http://[::1/", "http://[nonsense]/", "http://h/%zz", "http://a b/",
                          "a:b\n", "http://h/#%", "first:colon/no scheme"}) {
    SCOPED_TRACE(url);
    const auto parsed = ParseUrl(url);
    if (std::string(url).starts_with("first")) {
      EXPECT_TRUE(parsed);  // "first" is a scheme.
    } else {
      EXPECT_FALSE(parsed);
    }
  }
}

TEST(Url, MayHaveSpacesInItsPath) { EXPECT_TRUE(ParseUrl("http://h/a b")); }

TEST(Source, AllowsTheSchemesOfItsVersion) {
  EXPECT_EQ(SourceProblem("https://h/x", {}), "");
  EXPECT_EQ(SourceProblem("ftp://h/x", {}), "invalid url scheme");
  EXPECT_EQ(SourceProblem("gs://b/o", {}), "invalid url scheme");
  EXPECT_EQ(SourceProblem("gs://b/o", {.google_storage = true}), "");
  EXPECT_EQ(SourceProblem("arn:aws:s3:::b/k", {.google_storage = true}), "invalid url scheme");
  EXPECT_EQ(SourceProblem("arn:aws:s3:::b/k", {.arn = true}), "");
  EXPECT_EQ(SourceProblem("arn:aws:s3:::bucket", {.arn = true}), "invalid S3 ARN format");
  EXPECT_EQ(SourceProblem("arn:aws:ec2:::b/k", {.arn = true}), "invalid S3 ARN format");
}

TEST(Source, MustNotLeaveAnObjectsVersionEmpty) {
  EXPECT_EQ(SourceProblem("s3://b/k?versionId=1", {}), "");
  EXPECT_EQ(SourceProblem("s3://b/k?a=b&versionId=", {}), "invalid S3 object VersionId");
}

}  // namespace
}  // namespace pintle::ignition
