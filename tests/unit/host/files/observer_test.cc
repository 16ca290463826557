// SPDX-License-Identifier: Apache-2.0
#include "host/files/observer.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "host/files/files.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using resource::EntryKind;
using testing::HasSubstr;

class ObserverTest : public testing::Test {
 protected:
  ObserverTest() : root_(ValueOf(Root::Open(directory_.path().string()))) {
    directory_.Write("motd", "hello");
    fs::create_directory(directory_ / "etc");
    directory_.Write("etc/file", "one");
    fs::create_symlink("/etc", directory_ / "link");
  }

  TemporaryDirectory directory_;
  Root root_;
};

TEST_F(ObserverTest, ObservesManyEntriesOfManyDirectories) {
  for (int i = 0; i < 200; ++i) {
    fs::create_directory(directory_ / std::to_string(i));
    directory_.Write(std::to_string(i) + "/file", std::to_string(i));
  }
  Observer observer(root_);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 200; ++i) {
      const std::string path = "/" + std::to_string(i) + "/file";
      EXPECT_EQ(ValueOf(observer.Observe(path)).value().sha256, Sha256(std::to_string(i)).hex());
      EXPECT_FALSE(ValueOf(observer.Observe(path + "/below")).has_value());
    }
  }
}

TEST_F(ObserverTest, FollowsLinksToDirectoriesWithinTheRootAndNoOtherLinks) {
  Observer observer(root_);
  EXPECT_EQ(ValueOf(observer.Observe("/link/file")).value().kind, EntryKind::kFile);
  EXPECT_EQ(ValueOf(observer.Observe("/link")).value().target, "/etc");
  EXPECT_EQ(ValueOf(observer.Observe("/../../link/../motd")).value().sha256, Sha256("hello").hex());
}

TEST_F(ObserverTest, ObservesDirectoriesUnderAnyOfTheirNames) {
  Observer observer(root_);
  for (const char* path : {"/", "/etc", "/etc/", "/etc/.", "/link/", "/link/.."}) {
    EXPECT_EQ(ValueOf(observer.Observe(path)).value().kind, EntryKind::kDirectory) << path;
  }
  EXPECT_FALSE(ValueOf(observer.Observe("/motd/")).has_value());
}

TEST_F(ObserverTest, KeepsContentsOnlyOfFilesThatDiffer) {
  BlobStore blobs = ValueOf(BlobStore::Open(root_, "/store"));
  Observer observer(root_);
  directory_.Write("long", std::string(1 << 20, 'x'));
  for (const char* path : {"/motd", "/long"}) {
    const auto have = ValueOf(observer.Observe(path));
    EXPECT_EQ(ValueOf(observer.ObserveAndKeep(path, blobs, have)).value().sha256, have->sha256);
    EXPECT_FALSE(blobs.Has(have->sha256)) << path;
    auto wanted = have;
    wanted->permissions = 0;
    EXPECT_EQ(ValueOf(observer.ObserveAndKeep(path, blobs, wanted)).value().sha256, have->sha256);
    EXPECT_TRUE(blobs.Has(have->sha256)) << path;
  }
}

// Reading eight tebibytes would take hours.
TEST_F(ObserverTest, DoesNotReadALongFileThatAUserMayWriteTo) {
  BlobStore blobs = ValueOf(BlobStore::Open(root_, "/store"));
  fs::create_directory(directory_ / "home");
  ASSERT_EQ(::chown((directory_ / "home").c_str(), 1000, 1000), 0);
  for (const char* path : {"/home/ours", "/etc/theirs", "/etc/open"}) {
    const fs::path file = directory_.path() / (path + 1);
    std::ofstream(file) << "x";
    fs::resize_file(file, std::uintmax_t{1} << 43);
  }
  ASSERT_EQ(::chown((directory_ / "etc/theirs").c_str(), 1000, 1000), 0);
  fs::permissions(directory_ / "etc/open", fs::perms(0666));
  Observer observer(root_);
  for (const char* path : {"/home/ours", "/etc/theirs", "/etc/open"}) {
    EXPECT_THAT(MessageOf(observer.Observe(path)), HasSubstr("longer than the 268435456 bytes")) << path;
    EXPECT_THAT(MessageOf(observer.ObserveAndKeep(path, blobs)), HasSubstr("move it away")) << path;
  }
}

// A file in memory, since the usual file systems of disks have room for few attributes only.
TEST_F(ObserverTest, DoesNotReadMoreAttributesThanFitIntoTheMemory) {
  std::string file = "/dev/shm/pintle-test-XXXXXX";
  const UniqueFd made(::mkstemp(file.data()));
  ASSERT_TRUE(made) << "making a file in /dev/shm: mount a tmpfs there";
  const Root root = ValueOf(Root::Open("/dev/shm"));
  const std::string path = file.substr(std::string_view("/dev/shm").size());
  const auto set = [&](int count, std::size_t name_size, std::size_t value_size) {
    bool is_set = true;
    for (int i = 0; i < count; ++i) {
      std::string name = fmt::format("user.{:05}", i);
      name.resize(std::max(name_size, name.size()), 'n');
      is_set = is_set && ::setxattr(file.c_str(), name.c_str(), "", 0, 0) == 0;
      const std::string value(value_size, 'x');
      is_set = is_set && ::setxattr(file.c_str(), name.c_str(), value.data(), value.size(), 0) == 0;
    }
    return is_set;
  };
  const bool has_values = set(20, 0, 60'000);
  const auto with_values = Observer(root).Observe(path);
  const bool has_names = set(300, 250, 0);  // The kernel does not list that many names.
  const auto with_names = Observer(root).Observe(path);
  fs::remove(file);
  if (!has_values || !has_names) GTEST_SKIP() << "this kernel has no attributes in memory";
  EXPECT_THAT(MessageOf(with_values), HasSubstr("too many extended attributes"));
  EXPECT_THAT(MessageOf(with_names), HasSubstr("too many extended attributes"));
}

}  // namespace
}  // namespace pintle::host
