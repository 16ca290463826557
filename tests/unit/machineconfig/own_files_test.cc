// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/own_files.h"

#include "machineconfig/reconcilable.h"
#include "support/configs.h"
#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

using plan::TestConfig;
using testing::HasSubstr;

TEST(OwnFiles, IncludeAllPathsBelowAndAboveThem) {
  for (const char* path : {
           "/etc/machine-config-daemon/currentconfig",
           "/etc/machine-config-daemon/currentconfig/below",
           "/etc/machine-config-daemon/./pintle-writers.json",
           "/etc/x/../machine-config-daemon/currentimage",
           "/etc/machine-config-daemon/orig/etc/motd.mcdorig",
           "/etc/machine-config-daemon/noorig",
           "/etc/machine-config-daemon",
           "/etc",
           "/var/lib/pintle",
           "/var/lib/pintle/change/journal.json",
           "/run/pintle/seen-files",
           "/var/run/pintle/x",
           "/etc/pintle/paused",
           "/etc/.pintle-0123456789abcdef",
       }) {
    EXPECT_TRUE(IsOwnFile(path)) << path;
  }
}

TEST(OwnFiles, DoNotIncludeTheirNeighbours) {
  for (const char* path : {
           "/etc/machine-config-daemon/no-reboot/containers-gpg.pub",
           "/etc/machine-config-daemon/currentconfig.mine",
           "/etc/machine-config-daemon/original",
           "/etc/pintle/config.d/a.yaml",
           "/etc/pintle/pintled.conf",
           "/var/lib/pintles/x",
           "/var/lib/kubelet/config.json",
           "/run/other",
           "/etc/motd",
       }) {
    EXPECT_FALSE(IsOwnFile(path)) << path;
  }
}

TEST(OwnFiles, MakeAConfigUnreconcilable) {
  TestConfig config;
  config.WithFile("/etc/machine-config-daemon/currentconfig", "data:,x");
  const Verdict verdict = Judge(TestConfig(), config, {});
  EXPECT_THAT(verdict.text,
              HasSubstr("cannot write /etc/machine-config-daemon/currentconfig: a file there would be in the way of "
                        "Pintle's own files"));
  EXPECT_TRUE(verdict.is_valid) << "it renders";
  // A machine that already has this config can change to another one.
  EXPECT_EQ(Judge(config, TestConfig(), {}).text, "");
}

}  // namespace
}  // namespace pintle::machineconfig
