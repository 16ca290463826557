// SPDX-License-Identifier: Apache-2.0
#include "host/files/observer.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/digest.h"
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

}  // namespace
}  // namespace pintle::host
