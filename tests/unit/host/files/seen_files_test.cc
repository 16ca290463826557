// SPDX-License-Identifier: Apache-2.0
#include "host/files/seen_files.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "base/digest.h"
#include "host/files/observer.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using State = resource::FileEntry::State;

// A digest that no file in these tests has.
const std::string kRemembered(64, 'a');

class ClockAhead final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
  WallTime Wall() const override { return std::chrono::system_clock::now() + ahead; }
  std::chrono::seconds ahead = 2 * kTimeAtRest;
};

class SeenFilesTest : public testing::Test {
 protected:
  SeenFilesTest() : root_(ValueOf(Root::Open(directory_.path().string()))) { directory_.Write("motd", "hello"); }

  State Look(SeenFiles& seen) { return ValueOf(Observer(root_).Observe("/motd", seen)).value(); }

  // Remembers a wrong digest for the unchanged file, so that the result shows whether the file was read.
  SeenFiles WithAWrongDigest(const std::string& sha256 = kRemembered) {
    SeenFiles seen(clock_);
    struct stat status;
    EXPECT_EQ(::lstat((directory_ / "motd").c_str(), &status), 0);
    State state = Look(seen);
    state.sha256 = sha256;
    EXPECT_EQ(seen.Recall("/motd", status)->sha256, Sha256("hello").hex());
    seen.Remember("/motd", status, state);
    return seen;
  }

  TemporaryDirectory directory_;
  Root root_;
  ClockAhead clock_;
};

TEST_F(SeenFilesTest, AreNotReadAgain) {
  SeenFiles seen = WithAWrongDigest();
  const State state = Look(seen);
  EXPECT_EQ(state.sha256, kRemembered);
  const State read = ValueOf(Observer(root_).Observe("/motd")).value();
  EXPECT_EQ(state.permissions, read.permissions);
  EXPECT_EQ(state.user.id, read.user.id);
  EXPECT_EQ(state.attributes, read.attributes);
}

TEST_F(SeenFilesTest, AreNotReadIfTheConfigHasTheirContents) {
  SeenFiles seen = WithAWrongDigest(Sha256("expected").hex());
  BlobStore blobs = ValueOf(BlobStore::Open(root_, "/store"));
  const auto keep = [&](const std::string& contents) {
    const auto keep_expected = [&](const std::string& path) -> Result<> {
      EXPECT_EQ(path, "/motd");
      TRY(blobs.Add(contents));
      return {};
    };
    return ValueOf(Observer(root_).ObserveAndKeep("/motd", blobs, std::nullopt, seen, keep_expected)).value().sha256;
  };
  EXPECT_EQ(keep("something else"), Sha256("hello").hex());
  EXPECT_TRUE(blobs.Has(Sha256("hello").hex()));
  seen = WithAWrongDigest(Sha256("expected").hex());
  EXPECT_EQ(keep("expected"), Sha256("expected").hex());
  directory_.Write("motd", "HELLO");
  EXPECT_EQ(keep("expected"), Sha256("HELLO").hex());
}

TEST_F(SeenFilesTest, AreReadAgainAfterAWriteEvenIfTheirTimeIsRestored) {
  SeenFiles seen = WithAWrongDigest();
  const auto time = fs::last_write_time(directory_ / "motd");
  directory_.Write("motd", "HELLO");
  fs::last_write_time(directory_ / "motd", time);
  EXPECT_EQ(Look(seen).sha256, Sha256("HELLO").hex());
}

TEST_F(SeenFilesTest, AreReadAgainAfterTheyAreReplaced) {
  SeenFiles seen = WithAWrongDigest();
  directory_.Write("other", "HELLO");
  fs::rename(directory_ / "other", directory_ / "motd");
  EXPECT_EQ(Look(seen).sha256, Sha256("HELLO").hex());
}

TEST_F(SeenFilesTest, AreReadAgainAfterTheirAttributesChange) {
  SeenFiles seen = WithAWrongDigest();
  ASSERT_EQ(::setxattr((directory_ / "motd").c_str(), "user.note", "x", 1, 0), 0);
  const State state = Look(seen);
  EXPECT_EQ(state.sha256, Sha256("hello").hex());
  EXPECT_EQ(state.attributes->size(), 1U);
  EXPECT_EQ(seen.size(), 0U);
}

// A write soon after the file was read may leave its modification time as it is.
TEST_F(SeenFilesTest, AreNotRecordedWhileTheyAreFresh) {
  SeenFiles seen(clock_);
  clock_.ahead = std::chrono::seconds(0);
  Look(seen);
  EXPECT_EQ(seen.size(), 0U);
  clock_.ahead = -std::chrono::hours(1);
  Look(seen);
  EXPECT_EQ(seen.size(), 0U);
  clock_.ahead = 2 * kTimeAtRest;
  Look(seen);
  EXPECT_EQ(seen.size(), 1U);
}

TEST_F(SeenFilesTest, AreRememberedInAFile) {
  ASSERT_TRUE(Succeeded(WithAWrongDigest().Save(root_, "/seen")));
  SeenFiles loaded = SeenFiles::Load(root_, "/seen", clock_);
  EXPECT_EQ(loaded.size(), 1U);
  EXPECT_EQ(Look(loaded).sha256, kRemembered);
  EXPECT_EQ(fs::status(directory_ / "seen").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(SeenFilesTest, AreForgottenOnceNobodyAsksForThem) {
  ASSERT_TRUE(Succeeded(WithAWrongDigest().Save(root_, "/seen")));
  ASSERT_TRUE(Succeeded(SeenFiles::Load(root_, "/seen", clock_).Save(root_, "/seen")));
  EXPECT_EQ(SeenFiles::Load(root_, "/seen", clock_).size(), 0U);
}

TEST_F(SeenFilesTest, AreEmptyIfTheFileIsBrokenAnywhere) {
  ASSERT_TRUE(Succeeded(WithAWrongDigest().Save(root_, "/seen")));
  const std::string whole = directory_.Read("seen");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string broken = whole;
    broken[i] ^= 1;
    directory_.Write("seen", broken);
    ASSERT_EQ(SeenFiles::Load(root_, "/seen", clock_).size(), 0U) << "at byte " << i;
    directory_.Write("seen", whole.substr(0, i));
    ASSERT_EQ(SeenFiles::Load(root_, "/seen", clock_).size(), 0U) << "cut at byte " << i;
  }
  directory_.Write("seen", whole);
  EXPECT_EQ(SeenFiles::Load(root_, "/seen", clock_).size(), 1U);
}

TEST_F(SeenFilesTest, AreEmptyIfOthersMayWriteTheFileOrItIsALink) {
  ASSERT_TRUE(Succeeded(WithAWrongDigest().Save(root_, "/seen")));
  fs::create_symlink("seen", directory_ / "link");
  EXPECT_EQ(SeenFiles::Load(root_, "/link", clock_).size(), 0U);
  ASSERT_EQ(::chmod((directory_ / "seen").c_str(), 0620), 0);
  EXPECT_EQ(SeenFiles::Load(root_, "/seen", clock_).size(), 0U);
  EXPECT_EQ(SeenFiles::Load(root_, "/none", clock_).size(), 0U);
}

}  // namespace
}  // namespace pintle::host
