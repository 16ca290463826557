// SPDX-License-Identifier: Apache-2.0
#include "host/accounts.h"

#include <filesystem>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

struct MachineWithUsers : TemporaryDirectory {
  MachineWithUsers() {
    std::filesystem::create_directories(path() / "etc");
    std::filesystem::create_directories(path() / "usr/lib");
    Write("etc/passwd",
          "root:x:0:0:root:/root:/bin/bash\n"
          "broken:x:one:1::/:/bin/sh\n"
          "short:x:1\n"
          "huge:x:4294967295:1::/:/bin/sh\n"
          "+nis::::::\n"
          "\n"
          "core:x:1000:1001:CoreOS Admin:/var/home/core:/bin/bash\n"
          "last:x:7:8::/last:/bin/sh");
    Write("etc/group", "root:x:0:\ncore:x:1001:\nwheel:x:10:core\n");
    Write("usr/lib/passwd", "core:x:5:5::/wrong:/bin/sh\nchrony:x:994:992::/var/lib/chrony:/sbin/nologin\n");
    Write("usr/lib/group", "wheel:x:99:\nchrony:x:992:\n");
  }
  Root root() const { return ValueOf(Root::Open(path().string())); }
};

TEST(FindUser, ReturnsIdsAndHome) {
  const MachineWithUsers machine;
  const auto core = ValueOf(FindUser(machine.root(), "core"));
  ASSERT_TRUE(core.has_value());
  EXPECT_EQ(core->uid, 1000U);
  EXPECT_EQ(core->gid, 1001U);
  EXPECT_EQ(core->home, "/var/home/core");
  EXPECT_EQ(ValueOf(FindUser(machine.root(), "last"))->uid, 7U);
}

TEST(FindUser, FindsUsersThatOnlyTheImageHas) {
  const MachineWithUsers machine;
  EXPECT_EQ(ValueOf(FindUser(machine.root(), "chrony"))->uid, 994U);
  EXPECT_EQ(ValueOf(FindGroup(machine.root(), "chrony")), 992U);
  EXPECT_EQ(ValueOf(FindGroup(machine.root(), "wheel")), 10U);
}

TEST(FindUser, IgnoresMissingUsersAndMalformedLines) {
  const MachineWithUsers machine;
  for (const char* name : {"nobody", "broken", "short", "huge", "+nis", "", "co", "core:x"}) {
    EXPECT_FALSE(ValueOf(FindUser(machine.root(), name)).has_value()) << name;
  }
  EXPECT_FALSE(ValueOf(FindGroup(machine.root(), "nobody")).has_value());
}

TEST(FindUser, AcceptsAMachineWithoutFiles) {
  const TemporaryDirectory empty;
  EXPECT_FALSE(ValueOf(FindUser(ValueOf(Root::Open(empty.path().string())), "root")).has_value());
}

}  // namespace
}  // namespace pintle::host
