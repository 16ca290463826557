// SPDX-License-Identifier: Apache-2.0
#include "agent/host_facts.h"

#include "support/expect.h"

namespace pintle::agent {
namespace {

TEST(HostFacts, TheIdOfAnOsIsInUpperCase) {
  EXPECT_EQ(OsIdIn("NAME=\"Red Hat\"\nID=\"rhcos\"\nVERSION_ID=4.18\n"), "RHCOS");
  EXPECT_EQ(OsIdIn("VERSION_ID=1\nID=fedora"), "FEDORA");
  EXPECT_EQ(OsIdIn("PLATFORM_ID=x\n"), "");
}

}  // namespace
}  // namespace pintle::agent
