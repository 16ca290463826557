// SPDX-License-Identifier: Apache-2.0
#include "ignition/convert.h"

#include <string>
#include <string_view>

#include "support/expect.h"
#include "unit/ignition/newest_config.h"

namespace pintle::ignition {
namespace {

TEST(Convert, NamesThePathAndTheFeatureThatWouldBeLost) {
  EXPECT_EQ(MessageOf(ConvertTo(Read(R"("passwd": {"users": [{"name": "core"}, {"name": "x", "shouldExist": false}]})"),
                                SpecVersion::k3_1)),
            "ShouldExist in Passwd.Users is not supported on 3.1 (at $.passwd.users.1.shouldExist)");
  EXPECT_EQ(
      MessageOf(ConvertTo(Read(R"("storage": {"files": [{"path": "/a", "contents": {"source": "arn:aws:s3:::b/k"}}]})"),
                          SpecVersion::k3_3)),
      "Invalid input config: arn: scheme for s3 is not supported in spec v3.3 (at "
      "$.storage.files.0.contents.source)");
}

TEST(Convert, RefusesAValueThatTheOlderVersionDoesNotKnow) {
  EXPECT_EQ(MessageOf(ConvertTo(Read(R"("storage": {"files": [{"path": "/a", "contents": {"source": "gs://b/o"}}]})"),
                                SpecVersion::k3_1)),
            "Converted spec has unexpected fatal error:\nerror at $.storage.files.0.contents.source: invalid url "
            "scheme\n");
}

TEST(Convert, ReportsLostFieldsWithoutAnError) {
  json::Report lost;

  const auto converted =
      ConvertTo(Read(R"("storage": {"luks": [{"name": "l", "device": "/d", "cex": {"enabled": true}}]})"),
                SpecVersion::k3_4, &lost);

  EXPECT_TRUE(Succeeded(converted));
  ASSERT_EQ(lost.problems().size(), 1U);
  EXPECT_EQ(lost.problems()[0].path, "$.storage.luks.0.cex");
}

TEST(Convert, ReportsProblemsOfSpec2WithTheirPaths) {
  EXPECT_EQ(MessageOf(ConvertTo(Read(R"("storage": {"filesystems": [{"device": "/dev/a"}]})"), SpecVersion::k2_2)),
            "Converted spec has unexpected fatal error:\nerror: invalid filesystem format (at "
            "$.storage.filesystems.0.mount)");
}

TEST(Convert, PutsAFileOnTheFilesystemOfSpec2WithTheLongestMountPoint) {
  const auto converted =
      ConvertTo(Read(R"("storage": {"files": [{"path": "/data/a/x", "contents": {"source": "data:,x"}}],
      "filesystems": [{"device": "/dev/a", "format": "xfs", "path": "/data"},
                      {"device": "/dev/b", "format": "xfs", "path": "/data/a"}]})"),
                SpecVersion::k2_2);

  ASSERT_TRUE(Succeeded(converted));
  EXPECT_EQ((*converted)["storage"]["files"][0]["filesystem"], "/data/a");
  EXPECT_EQ((*converted)["storage"]["files"][0]["path"], "/x");
}

TEST(Negotiate, PrefersTheOfferOfTheHighestQuality) {
  const std::string type = "application/vnd.coreos.ignition+json;version=";
  EXPECT_EQ(ValueOf(Negotiate(type + "3.1.0;q=0.5," + type + "3.2.0;q=0.9")), SpecVersion::k3_2);
  EXPECT_EQ(ValueOf(Negotiate(type + "3.1.0;q=0.5," + type + "3.2.0")), SpecVersion::k3_2);
}

TEST(Negotiate, IgnoresAQualityThatIsNotANumber) {
  const std::string type = "application/vnd.coreos.ignition+json;version=";
  EXPECT_EQ(ValueOf(Negotiate(type + "3.1.0;q=0.5," + type + "3.2.0;q=nan")), SpecVersion::k3_2);
  EXPECT_EQ(ValueOf(Negotiate(type + "3.1.0;q=0.5," + type + "3.2.0;q=x")), SpecVersion::k3_2);
  EXPECT_EQ(ValueOf(Negotiate(type + "3.1.0;q=1e99," + type + "3.2.0;q=2")), SpecVersion::k3_2);
  EXPECT_EQ(ValueOf(Negotiate(type + "3.1.0;q=0x9," + type + "3.2.0;q=2")), SpecVersion::k3_2);
  EXPECT_EQ(ValueOf(Negotiate(type + "3.1.0;q=inf," + type + "3.2.0;q=2")), SpecVersion::k3_1);
}

TEST(Negotiate, IgnoresAVersionWithTwoPartsOfBuildMetadata) {
  const std::string type = "application/vnd.coreos.ignition+json;version=";
  EXPECT_EQ(ValueOf(Negotiate(type + "3.2.0-a+b")), SpecVersion::k3_2);
  EXPECT_EQ(ValueOf(Negotiate(type + "3.2.0+a+b")), SpecVersion::k2_2);
}

TEST(SpecVersion, IsReadWithAndWithoutItsLastNumber) {
  EXPECT_EQ(ValueOf(ParseSpecVersion("3.1")), SpecVersion::k3_1);
  EXPECT_EQ(ValueOf(ParseSpecVersion("2.2.0")), SpecVersion::k2_2);
  EXPECT_FALSE(ParseSpecVersion("3.6"));
  EXPECT_FALSE(ParseSpecVersion("3"));
}

}  // namespace
}  // namespace pintle::ignition
