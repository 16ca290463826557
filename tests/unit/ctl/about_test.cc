// SPDX-License-Identifier: Apache-2.0
#include "ctl/about.h"

#include "support/configs.h"
#include "support/expect.h"

namespace pintle::ctl {
namespace {

using plan::TestConfig;
using testing::IsEmpty;
using testing::SizeIs;

plan::Step FileAt(std::string path) { return resource::Put<resource::FileEntry>{std::move(path), std::nullopt}; }

TestConfig Sample() {
  TestConfig config;
  config.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,2").WithUser("core", {"key"});
  config.WithUnit("u.service", "[Unit]");
  config.ignition().systemd.units.back().dropins.emplace_back().name = "1.conf";
  return config;
}

TEST(About, AUnitIncludesItsFileAndItsDropins) {
  const About unit("u.service");
  EXPECT_TRUE(unit.Covers(FileAt("/etc/systemd/system/u.service")));
  EXPECT_TRUE(unit.Covers(FileAt("/etc/systemd/system/u.service.d/1.conf")));
  EXPECT_TRUE(unit.Covers(resource::Put<resource::UnitState>{"u.service", {}}));
  EXPECT_FALSE(unit.Covers(FileAt("/etc/systemd/system/other.service")));
}

TEST(About, APathIncludesNothingElse) {
  const About path("/etc/a");
  EXPECT_TRUE(path.Covers(FileAt("/etc/a")));
  EXPECT_FALSE(path.Covers(FileAt("/etc/a/b")));
}

TEST(About, TakesOnlyTheThingOutOfAConfig) {
  TestConfig config = Sample();
  EXPECT_THAT(About("/etc/a").Without(config.ignition()).storage.files, SizeIs(1));
  EXPECT_THAT(About("core").Without(config.ignition()).passwd.users, IsEmpty());
  EXPECT_THAT(About("u.service").Without(config.ignition()).systemd.units, IsEmpty());
  const auto units = About("/etc/systemd/system/u.service.d/1.conf").Without(config.ignition()).systemd.units;
  ASSERT_THAT(units, SizeIs(1));
  EXPECT_THAT(units[0].dropins, IsEmpty());
  EXPECT_EQ(units[0].contents, "[Unit]");
}

TEST(MakePlanAbout, HasTheActionsOfThePolicyForTheseThings) {
  const TestConfig config = Sample();
  const api::NodeDisruptionPolicy policy = {
      .files = {{.path = "/etc/a", .actions = {{.type = "None", .reload = {}, .restart = {}}}}},
      .units = {},
      .sshkey = {},
  };
  const About a[] = {About("/etc/a")};
  const About both[] = {About("/etc/a"), About("/etc/b")};
  EXPECT_FALSE(MakePlanAbout(a, config, policy).plan.Reboots());
  EXPECT_TRUE(MakePlanAbout(both, config, policy).plan.Reboots());
}

}  // namespace
}  // namespace pintle::ctl
