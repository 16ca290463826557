// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/sizes.h"

#include <string>
#include <utility>

#include "base/base64.h"
#include "base/size_limits.h"
#include "support/expect.h"
#include "support/packed.h"

namespace pintle::machineconfig {
namespace {

using testing::HasSubstr;

ignition::Config WithFile(std::string path, std::size_t packed) {
  ignition::Config config;
  ignition::File& file = config.storage.files.emplace_back();
  file.path = std::move(path);
  file.contents.source = PackedUrl(packed);
  file.contents.compression = "gzip";
  return config;
}

TEST(Sizes, OfFilesMayReachTheLimitButNotExceedIt) {
  EXPECT_TRUE(Succeeded(CheckFitsNode(WithFile("/etc/big", limits::kFileContents))));
  EXPECT_EQ(MessageOf(CheckFitsNode(WithFile("/etc/big", limits::kFileContents + kBytesPerGzipMember))),
            "/etc/big has more than 268435456 bytes, which is the most that a file may have; let a unit fetch it");
}

TEST(Sizes, OfFilesThatSystemdReadsHaveALowerLimit) {
  const std::string path = "/etc/systemd/system/a.service";
  EXPECT_TRUE(Succeeded(CheckFitsNode(WithFile(path, limits::kRecord))));
  EXPECT_THAT(MessageOf(CheckFitsNode(WithFile(path, limits::kRecord + kBytesPerGzipMember))),
              HasSubstr("a.service has more than 67108864 bytes"));
}

TEST(Sizes, OfAllContentsInAConfigAreAddedUp) {
  ignition::Config config;
  for (const char* path : {"/etc/a", "/etc/b"}) {
    config.storage.files.emplace_back().path = path;
    config.storage.files.back().contents.source = "data:," + std::string(limits::kRecord / 2 - 6, 'a');
  }
  EXPECT_TRUE(Succeeded(CheckFitsNode(config)));
  config.storage.files.back().contents.source->push_back('a');
  EXPECT_EQ(MessageOf(CheckFitsNode(config)),
            "the contents in the config are 67108865 bytes long, more than the 67108864 that a machine keeps of its "
            "config; of that, /etc/b has 33554433 bytes: compress it with gzip, or let a unit fetch it");
}

TEST(Sizes, OfKeysAreAddedUp) {
  ignition::Config config;
  config.passwd.users.emplace_back().name = "core";
  config.passwd.users.back().ssh_authorized_keys = {std::string(8 << 20, 'a')};
  EXPECT_TRUE(Succeeded(CheckFitsNode(config)));
  config.passwd.users.back().ssh_authorized_keys.emplace_back(8 << 20, 'b');
  EXPECT_THAT(MessageOf(CheckFitsNode(config)), HasSubstr("the SSH keys of core have 16777218 bytes"));
}

}  // namespace
}  // namespace pintle::machineconfig
