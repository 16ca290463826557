// SPDX-License-Identifier: Apache-2.0
#include "change/names.h"

#include <string>

#include "base/root.h"
#include "change/current_config.h"
#include "change/ignored.h"
#include "change/image_mode.h"
#include "change/kept_policy.h"
#include "change/original_passwords.h"
#include "host/files/originals.h"
#include "host/files/seen_files.h"
#include "host/pause.h"
#include "support/configs.h"
#include "support/expect.h"

namespace pintle::change {
namespace {

using plan::TestConfig;
using testing::HasSubstr;
using namespace std::string_literals;

Result<> CheckUnit(const std::string& name, const std::string& dropin) {
  TestConfig config;
  config.WithUnit(name, "[Unit]\n");
  config.ignition().systemd.units.back().dropins.emplace_back().name = dropin;
  return CheckNames(config.ignition());
}

TEST(Names, OfUnitsAreThoseThatSystemdAccepts) {
  for (const std::string& name : {"a.service"s, "a@.service"s, "a@b\\x2dc.mount"s, "A_b:c-d.timer"s}) {
    EXPECT_TRUE(Succeeded(CheckUnit(name, "a.conf"))) << name;
  }
  for (const std::string& name : {"../a.service"s, "a/b.service"s, "/etc/a.service"s, "a b.service"s, "a\0.service"s,
                                  ".service"s, std::string(256, 'n') + ".service"}) {
    EXPECT_THAT(MessageOf(CheckUnit(name, "a.conf")), HasSubstr("is not a name for a unit")) << name;
  }
}

TEST(Names, OfDropinsAreNoPaths) {
  for (const std::string& name : {"a b.conf"s, "..conf"s, "\xc3\xbc.conf"s}) {
    EXPECT_TRUE(Succeeded(CheckUnit("a.service", name))) << name;
  }
  for (const std::string& name : {"../a.conf"s, "a/b.conf"s, "/a.conf"s, "a\0.conf"s, ""s}) {
    EXPECT_THAT(MessageOf(CheckUnit("a.service", name)), HasSubstr("is not a name for a drop-in of a.service")) << name;
  }
}

TEST(Names, OfFilesExcludePintlesOwn) {
  for (const std::string& path :
       {std::string(kCurrentConfig), std::string(kCurrentImage), std::string(kWriters), std::string(kOriginalPasswords),
        std::string(kConfigDirectory), std::string(kIgnored), std::string(kKeptPolicy),
        std::string(host::kSeenFilesPath), std::string(host::kPauseFile), host::KeptOriginalPath("/etc/motd"),
        host::StampPath("/etc/motd"), "/etc/" + TemporaryNameOf("motd")}) {
    EXPECT_THAT(MessageOf(CheckNames(TestConfig().WithFile(path, "data:,").ignition())),
                HasSubstr("a file there would be in the way of Pintle's own files"))
        << path;
  }
}

TEST(Names, OfFilesContainNoNulAndAreNotTheRoot) {
  EXPECT_TRUE(Succeeded(CheckNames(TestConfig().WithFile("/etc/a b", "data:,").ignition())));
  EXPECT_EQ(MessageOf(CheckNames(TestConfig().WithFile("/etc/a\0.d"s, "data:,").ignition())),
            "the path of a file has a NUL byte after \"/etc/a\"; remove the NUL byte");
  EXPECT_THAT(MessageOf(CheckNames(TestConfig().WithFile("/", "data:,").ignition())),
              HasSubstr("not the path of a file"));
}

}  // namespace
}  // namespace pintle::change
