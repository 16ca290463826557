// SPDX-License-Identifier: Apache-2.0
#include "ctl/named_thing.h"

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

TEST(NamedThing, AUnitIncludesItsFileAndItsDropins) {
  const NamedThing unit("u.service");
  EXPECT_TRUE(unit.Covers(FileAt("/etc/systemd/system/u.service")));
  EXPECT_TRUE(unit.Covers(FileAt("/etc/systemd/system/u.service.d/1.conf")));
  EXPECT_TRUE(unit.Covers(resource::Put<resource::UnitState>{"u.service", {}}));
  EXPECT_FALSE(unit.Covers(FileAt("/etc/systemd/system/other.service")));
}

TEST(NamedThing, APathIncludesNothingElse) {
  const NamedThing path("/etc/a");
  EXPECT_TRUE(path.Covers(FileAt("/etc/a")));
  EXPECT_FALSE(path.Covers(FileAt("/etc/a/b")));
}

TEST(NamedThing, TakesOnlyTheThingOutOfAConfig) {
  TestConfig config = Sample();
  EXPECT_THAT(NamedThing("/etc/a").Without(config.ignition()).storage.files, SizeIs(1));
  EXPECT_THAT(NamedThing("core").Without(config.ignition()).passwd.users, IsEmpty());
  EXPECT_THAT(NamedThing("u.service").Without(config.ignition()).systemd.units, IsEmpty());
  const auto units = NamedThing("/etc/systemd/system/u.service.d/1.conf").Without(config.ignition()).systemd.units;
  ASSERT_THAT(units, SizeIs(1));
  EXPECT_THAT(units[0].dropins, IsEmpty());
  EXPECT_EQ(units[0].contents, "[Unit]");
}

TEST(MakePlanForThings, HasTheActionsOfThePolicyForTheseThings) {
  const TestConfig config = Sample();
  const api::NodeDisruptionPolicy policy = {
      .files = {{.path = "/etc/a", .actions = {{.type = "None", .reload = {}, .restart = {}}}}},
      .units = {},
      .sshkey = {},
  };
  const NamedThing a[] = {NamedThing("/etc/a")};
  const NamedThing both[] = {NamedThing("/etc/a"), NamedThing("/etc/b")};
  EXPECT_FALSE(MakePlanForThings(a, config, policy).plan.Reboots());
  EXPECT_TRUE(MakePlanForThings(both, config, policy).plan.Reboots());
}

}  // namespace
}  // namespace pintle::ctl
