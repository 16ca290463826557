// SPDX-License-Identifier: Apache-2.0
#include "host/files/directories.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "host/files/file_changes.h"
#include "host/files/files.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using State = resource::FileEntry::State;

constexpr uid_t kUser = 65534;
constexpr uid_t kOtherUser = 65533;

// /home/user belongs to the user; /etc belongs to root, and has files that the user must not change.
class DirectoriesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (::geteuid() != 0) FAIL() << "run this test as root: it checks that a user cannot misuse the rights of root";
  }

  DirectoriesTest() : root_(ValueOf(Root::Open(top_.path().string()))) {
    fs::permissions(top_.path(), fs::perms(0755));
    fs::create_directories(top_ / "etc/profile.d");
    fs::create_directories(top_ / "home/user/conf");
    fs::create_directories(top_ / "home/user/mine");
    top_.Write("etc/profile.d/app", "root's");
    top_.Write("etc/shadow", "root's secret");
    for (const char* name : {"home/user", "home/user/conf", "home/user/mine"}) Give(name, kUser);
  }

  void Give(const std::string& name, uid_t owner) {
    if (::lchown((top_ / name).c_str(), owner, owner) != 0) throw std::runtime_error("chown");
  }
  void Link(const std::string& target, const std::string& name, uid_t owner) {
    fs::create_symlink(target, top_ / name);
    Give(name, owner);
  }
  std::string MessageFor(const std::string& path) { return MessageOf(Directories(root_).Open(path)); }
  bool Opens(const std::string& path) { return Succeeded(Directories(root_).Open(path)); }

  TemporaryDirectory top_;
  Root root_;
};

TEST_F(DirectoriesTest, FollowsLinksOfRoot) {
  Link("home", "users", 0);
  Link("/etc", "home/etc", 0);
  Link("../../../../..", "etc/up", 0);
  for (const char* path :
       {"/", "/etc", "/users/user/conf", "/home/etc/profile.d", "/etc/up/etc", "/home/user/../../etc"}) {
    EXPECT_TRUE(Opens(path)) << path;
  }
  EXPECT_EQ((*ValueOf(Directories(root_).Open("/users/user"))).identity(),
            (*ValueOf(Directories(root_).Open("/home/user"))).identity());
}

TEST_F(DirectoriesTest, FollowsALinkOfAUserOnlyToFilesOfThatUser) {
  Link("/home/user/mine", "home/user/good-absolute", kUser);
  Link("conf/../mine", "home/user/good-relative", kUser);
  Link("/etc/profile.d", "home/user/bad-absolute", kUser);
  Link("../../etc/profile.d", "home/user/bad-relative", kUser);
  Link("bad-absolute", "home/user/bad-in-two-steps", kUser);
  Link("/etc/profile.d", "home/user/made-by-root-and-renamed", 0);
  for (const char* name : {"good-absolute", "good-relative"}) {
    EXPECT_TRUE(Opens(std::string("/home/user/") + name)) << name;
  }
  for (const char* name : {"bad-relative", "made-by-root-and-renamed", "bad-absolute"}) {
    EXPECT_EQ(MessageFor(std::string("/home/user/") + name),
              "the link /home/user/" + std::string(name) +
                  ", which user 65534 may have put there, leads to /etc/profile.d, which belongs to user 0; put a "
                  "directory in its place");
  }
  EXPECT_THAT(MessageFor("/home/user/bad-in-two-steps"), HasSubstr("user 65534 may have put there"));
}

TEST_F(DirectoriesTest, FollowsNoLinkOfAUserBeyondThatUsersRights) {
  fs::create_directories(top_ / "private/theirs");
  Give("private/theirs", kUser);
  fs::permissions(top_ / "private", fs::perms(0700));
  Link("/private/theirs", "home/user/link", kUser);
  EXPECT_THAT(MessageFor("/home/user/link"), HasSubstr("leads to where that user may not go"));
  EXPECT_TRUE(Opens("/private/theirs"));
}

TEST_F(DirectoriesTest, FollowsALinkInASharedDirectoryByItsOwner) {
  fs::create_directory(top_ / "tmp");
  fs::permissions(top_ / "tmp", fs::perms(01777));
  Link("/etc", "tmp/of-user", kUser);
  Link("/home/user/mine", "tmp/to-users-own", kUser);
  Link("/etc", "tmp/of-root", 0);
  EXPECT_THAT(MessageFor("/tmp/of-user"), HasSubstr("which user 65534 may have put there, leads to /etc"));
  EXPECT_TRUE(Opens("/tmp/to-users-own"));
  EXPECT_TRUE(Opens("/tmp/of-root"));
  fs::permissions(top_ / "tmp", fs::perms(0777));
  EXPECT_THAT(MessageFor("/tmp/of-root"), HasSubstr("any user that can write to /tmp"));
}

TEST_F(DirectoriesTest, EntersNoDirectoryOfAnotherUserInADirectoryOfAUser) {
  fs::create_directories(top_ / "home/user/conf/theirs");
  EXPECT_TRUE(Opens("/home/user/conf/theirs")) << "root owns it, like directories that were made for a config";
  Give("home/user/conf/theirs", kOtherUser);
  EXPECT_THAT(MessageFor("/home/user/conf/theirs"),
              HasSubstr("belongs to user 65533, and is in one of user 65534, who may have put it there"));
}

TEST_F(DirectoriesTest, ReadsNoFileOfRootThroughAHardLinkOfAUser) {
  fs::create_hard_link(top_ / "etc/shadow", top_ / "home/user/conf/app");
  EXPECT_THAT(MessageOf(Observe(root_, "/home/user/conf/app")), HasSubstr("it has other names (hard links)"));
  EXPECT_FALSE(OpenToRead(root_, "/home/user/conf/app"));
  top_.Write("home/user/conf/mine", "mine");
  Give("home/user/conf/mine", kUser);
  fs::create_hard_link(top_ / "home/user/conf/mine", top_ / "home/user/mine/too");
  EXPECT_TRUE(Succeeded(Observe(root_, "/home/user/mine/too")));
}

TEST_F(DirectoriesTest, ReadsNothingThroughALinkInPlaceOfADirectory) {
  Link("/etc", "home/user/elsewhere", kUser);
  EXPECT_THAT(MessageOf(Observe(root_, "/home/user/elsewhere/shadow")),
              HasSubstr("looking at /home/user/elsewhere/shadow: the link /home/user/elsewhere"));
  EXPECT_FALSE(OpenToRead(root_, "/home/user/elsewhere/shadow"));
  Link("/etc/shadow", "home/user/conf/app", kUser);
  EXPECT_FALSE(OpenToRead(root_, "/home/user/conf/app"));
}

// A change that a user makes in the user's own directory between Prepare and Commit.
struct Swap {
  const char* name;
  std::function<void(const fs::path& home)> make;
};

const Swap kSwaps[] = {
    {"a link in place of the directory",
     [](const fs::path& home) {
       fs::rename(home / "conf", home / "away");
       fs::create_symlink("/etc/profile.d", home / "conf");
     }},
    {"another directory in its place",
     [](const fs::path& home) {
       fs::rename(home / "conf", home / "away");
       fs::rename(home / "mine", home / "conf");
     }},
    {"nothing in its place", [](const fs::path& home) { fs::rename(home / "conf", home / "away"); }},
    {"a link in place of the home directory",
     [](const fs::path& home) {
       fs::rename(home, home.parent_path() / "away");
       fs::create_symlink("/etc", home);
     }},
};

TEST_F(DirectoriesTest, ThatDifferBetweenPrepareAndCommitAreAnError) {
  const fs::path home = top_ / "home/user";
  BlobStore blobs = ValueOf(BlobStore::Open(root_, "/blobs"));
  State users;
  users.sha256 = ValueOf(blobs.Add("a script of the user's"));
  users.permissions = 04755;
  users.user.id = users.group.id = kUser;
  for (const std::optional<State>& want : {std::optional(users), std::optional<State>()}) {
    for (const Swap& swap : kSwaps) {
      top_.Write("home/user/conf/app", "ours");
      FileChanges changes(root_, blobs, Labels());
      const FilePut put = {"/home/user/conf/app", want};
      ASSERT_TRUE(Succeeded(changes.Prepare(put))) << swap.name;
      swap.make(home);
      EXPECT_FALSE(changes.Commit(put)) << swap.name;
      EXPECT_EQ(top_.Read("etc/profile.d/app"), "root's") << swap.name;
      EXPECT_EQ(std::distance(fs::directory_iterator(top_ / "etc/profile.d"), {}), 1) << swap.name;
      fs::remove_all(top_ / "home");
      fs::create_directories(top_ / "home/user/conf");
      fs::create_directories(top_ / "home/user/mine");
      for (const char* name : {"home/user", "home/user/conf", "home/user/mine"}) Give(name, kUser);
    }
  }
}

// A user may put another file in place of a temporary file; that file must not be used.
TEST_F(DirectoriesTest, KeepTemporaryFilesOutOfReachOfUsers) {
  BlobStore blobs = ValueOf(BlobStore::Open(root_, "/blobs"));
  State ours;
  ours.sha256 = ValueOf(blobs.Add("ours"));
  ours.permissions = 0644;
  FileChanges changes(root_, blobs, Labels());
  const FilePut put = {"/home/user/conf/app", ours};
  ASSERT_TRUE(Succeeded(changes.Prepare(put)));
  const auto names = ValueOf(root_.List("/home/user/conf"));
  ASSERT_EQ(names.size(), 1U);
  const auto workspace = ValueOf(root_.Status("/home/user/conf/" + names[0]));
  EXPECT_EQ(workspace->st_mode, static_cast<mode_t>(S_IFDIR | 0700));
  EXPECT_EQ(workspace->st_uid, 0U);
  fs::rename(top_ / ("home/user/conf/" + names[0]), top_ / "home/user/mine/stolen");
  fs::create_symlink("/etc/profile.d", top_ / ("home/user/conf/" + names[0]));
  ASSERT_TRUE(Succeeded(changes.Commit(put)));
  EXPECT_EQ(top_.Read("home/user/conf/app"), "ours");
  ASSERT_TRUE(Succeeded(changes.Sync()));
  EXPECT_EQ(top_.Read("etc/profile.d/app"), "root's");
}

TEST_F(DirectoriesTest, OfManyChangesAreComparedAtEachCommit) {
  BlobStore blobs = ValueOf(BlobStore::Open(root_, "/blobs"));
  State ours;
  ours.sha256 = ValueOf(blobs.Add("ours"));
  ours.permissions = 0644;
  FileChanges changes(root_, blobs, Labels());
  std::vector<FilePut> puts;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "home/user/conf/" + std::to_string(i);
    fs::create_directory(top_ / name);
    Give(name, kUser);
    puts.push_back({"/" + name + "/app", ours});
    ASSERT_TRUE(Succeeded(changes.Prepare(puts.back())));
  }
  fs::rename(top_ / "home/user/conf/7", top_ / "home/user/seven");
  fs::create_directory(top_ / "home/user/conf/7");
  Give("home/user/conf/7", kUser);
  for (int i = 0; i < 300; ++i) {
    const auto done = changes.Commit(puts[static_cast<std::size_t>(i)]);
    EXPECT_EQ(done.has_value(), i != 7) << MessageOf(done);
  }
  EXPECT_FALSE(fs::exists(top_ / "home/user/conf/7/app"));
  changes.Abandon();
  EXPECT_TRUE(fs::exists(top_ / "home/user/conf/299/app"));
}

}  // namespace
}  // namespace pintle::host
