// SPDX-License-Identifier: Apache-2.0
#include "base/root.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class RootTest : public testing::Test {
 protected:
  RootTest() : root_(ValueOf(Root::Open((outside_ / "root").string()))) {}

  // The root is one level below the temporary directory, so that the test can notice files outside of the root.
  struct Outside : TemporaryDirectory {
    Outside() {
      fs::create_directories(path() / "root/etc");
      Write("secret", "not yours");
    }
  };

  mode_t ModeOf(const std::string& name) {
    struct stat status = {};
    EXPECT_EQ(::lstat((outside_ / ("root/" + name)).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }
  std::string Read(const std::string& name) { return outside_.Read("root/" + name); }
  std::vector<std::string> Names(const std::string& directory) { return ValueOf(root_.List(directory)); }

  Outside outside_;
  Root root_;
};

TEST_F(RootTest, WritesNoFileThatItCouldNotReadBack) {
  EXPECT_TRUE(Succeeded(root_.WriteFile("/etc/long", std::string(Root::kReadLimit, 'x'))));
  EXPECT_EQ(ValueOf(root_.ReadFile("/etc/long")).size(), Root::kReadLimit);
  EXPECT_THAT(MessageOf(root_.WriteFile("/etc/long", std::string(Root::kReadLimit + 1, 'y'))),
              testing::HasSubstr("writing /etc/long: 67108865 bytes are more than the limit of 67108864"));
  EXPECT_EQ(ValueOf(root_.ReadFile("/etc/long")).front(), 'x');
}

TEST_F(RootTest, WritesAFileWithItsContentsAndModeAndNoOtherFile) {
  ASSERT_TRUE(Succeeded(root_.WriteFile("/etc/motd", "hello\n", {.permissions = 0640, .owner = {}})));
  EXPECT_EQ(Read("etc/motd"), "hello\n");
  EXPECT_EQ(ModeOf("etc/motd"), 0640U);
  EXPECT_THAT(Names("/etc"), ElementsAre("motd"));
}

TEST_F(RootTest, KeepsSetUserIdWhenItAlsoSetsTheOwner) {
  ASSERT_TRUE(
      Succeeded(root_.WriteFile("/etc/tool", "", {.permissions = 04755, .owner = Owner{::getuid(), ::getgid()}})));
  EXPECT_EQ(ModeOf("etc/tool"), 04755U);
}

TEST_F(RootTest, ReplacesAFileWithoutChangingItForItsReaders) {
  ASSERT_TRUE(Succeeded(root_.WriteFile("/etc/motd", "old")));
  const UniqueFd open = ValueOf(root_.OpenFile("/etc/motd", O_RDONLY));
  ASSERT_TRUE(Succeeded(root_.WriteFile("/etc/motd", "new")));
  char buffer[8];
  EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(::read(open.get(), buffer, sizeof buffer))), "old");
  EXPECT_EQ(Read("etc/motd"), "new");
}

TEST_F(RootTest, ReplacesASymlinkInsteadOfWritingThroughIt) {
  fs::create_symlink("../../secret", outside_ / "root/etc/link");
  ASSERT_TRUE(Succeeded(root_.WriteFile("/etc/link", "mine")));
  EXPECT_EQ(Read("etc/link"), "mine");
  EXPECT_EQ(outside_.Read("secret"), "not yours");
}

TEST_F(RootTest, NeverFollowsAPathOutOfTheRoot) {
  fs::create_directory_symlink("/", outside_ / "root/all");
  fs::create_directory_symlink("../../..", outside_ / "root/etc/up");
  EXPECT_FALSE(root_.ReadFile("../secret"));
  EXPECT_FALSE(root_.ReadFile("/etc/../../secret"));
  EXPECT_FALSE(root_.ReadFile("/etc/up/secret"));
  // An absolute symlink begins at the root again.
  ASSERT_TRUE(Succeeded(root_.WriteFile("/all/inside", "x")));
  EXPECT_EQ(Read("inside"), "x");
  ASSERT_TRUE(Succeeded(root_.MakeDirectories("/etc/up/made")));
  EXPECT_TRUE(fs::is_directory(outside_ / "root/made"));
}

TEST_F(RootTest, DoesNotFollowMagicLinks) {
  const Root whole_system = ValueOf(Root::Open("/"));
  EXPECT_THAT(MessageOf(whole_system.ReadFile("/proc/self/root/etc/passwd")),
              testing::HasSubstr("Too many levels of symbolic links"));
}

TEST_F(RootTest, RefusesADirectoryInPlaceOfAFileAndLeavesNothingBehind) {
  fs::create_directories(outside_ / "root/etc/dir/sub");
  EXPECT_EQ(MessageOf(root_.WriteFile("/etc/dir", "x")), "writing /etc/dir: rename: Is a directory");
  EXPECT_THAT(Names("/etc"), ElementsAre("dir"));
}

TEST_F(RootTest, NamesTheMissingDirectory) {
  const auto result = root_.WriteFile("/no/such/file", "x");
  EXPECT_EQ(MessageOf(result), "writing /no/such/file: open: No such file or directory");
  EXPECT_EQ(result.error().kind(), ErrorKind::kNotFound);
}

TEST_F(RootTest, RefusesAPathThatDoesNotEndInAName) {
  for (const char* path : {"", "/", "/etc/..", "."}) EXPECT_FALSE(root_.WriteFile(path, "x")) << path;
}

TEST_F(RootTest, ReadsFilesOfProcWhoseSizeIsUnknown) {
  const Root proc = ValueOf(Root::Open("/proc"));
  EXPECT_THAT(ValueOf(proc.ReadFile("/version")), HasSubstr("Linux"));
}

TEST_F(RootTest, RefusesToReadMoreThanItsLimit) {
  outside_.Write("root/etc/long", std::string(100, 'x'));
  EXPECT_EQ(ValueOf(root_.ReadFile("/etc/long", 100)).size(), 100U);
  EXPECT_EQ(MessageOf(root_.ReadFile("/etc/long", 99)), "reading /etc/long: longer than the limit of 99 bytes");
}

TEST_F(RootTest, RefusesToReadAnythingButARegularFile) {
  ASSERT_EQ(::mkfifo((outside_ / "root/etc/pipe").c_str(), 0600), 0);
  EXPECT_EQ(MessageOf(root_.ReadFile("/etc/pipe")), "reading /etc/pipe: not a regular file");
  EXPECT_EQ(MessageOf(root_.ReadFile("/etc")), "reading /etc: not a regular file");
}

TEST_F(RootTest, ReplacesAFileByASymlink) {
  ASSERT_TRUE(Succeeded(root_.WriteFile("/etc/unit", "x")));
  ASSERT_TRUE(Succeeded(root_.WriteLink("/etc/unit", "/dev/null")));
  EXPECT_EQ(ValueOf(root_.ReadLink("/etc/unit")), "/dev/null");
  EXPECT_THAT(Names("/etc"), ElementsAre("unit"));
}

TEST_F(RootTest, ReturnsTheStatusOfALastSymlinkItself) {
  fs::create_symlink("nowhere", outside_ / "root/etc/link");
  EXPECT_TRUE(S_ISLNK(ValueOf(root_.Status("/etc/link"))->st_mode));
  EXPECT_TRUE(S_ISDIR(ValueOf(root_.Status("/etc/"))->st_mode));
  EXPECT_EQ(ValueOf(root_.Status("/etc/none")), std::nullopt);
  EXPECT_EQ(ValueOf(root_.Status("/etc/link/below")), std::nullopt);
}

TEST_F(RootTest, MakesMissingDirectoriesAndKeepsExistingDirectories) {
  fs::permissions(outside_ / "root/etc", fs::perms::owner_all);
  ASSERT_TRUE(Succeeded(root_.MakeDirectories("/etc/a/b/", {.permissions = 0750, .owner = {}})));
  EXPECT_EQ(ModeOf("etc"), 0700U);
  EXPECT_EQ(ModeOf("etc/a"), 0750U);
  EXPECT_EQ(ModeOf("etc/a/b"), 0750U);
}

TEST_F(RootTest, RefusesToMakeADirectoryWhereAFileIs) {
  ASSERT_TRUE(Succeeded(root_.WriteFile("/etc/file", "")));
  EXPECT_EQ(MessageOf(root_.MakeDirectories("/etc/file/below")),
            "making the directory /etc/file: open: Not a directory");
}

TEST_F(RootTest, RemovesFilesLinksAndEmptyDirectories) {
  fs::create_directory(outside_ / "root/etc/empty");
  fs::create_symlink("../../secret", outside_ / "root/etc/link");
  for (const char* path : {"/etc/empty", "/etc/link", "/etc/never-was", "/never/was"}) {
    EXPECT_TRUE(Succeeded(root_.Remove(path))) << path;
  }
  EXPECT_THAT(Names("/etc"), ElementsAre());
  EXPECT_EQ(outside_.Read("secret"), "not yours");
}

TEST_F(RootTest, RefusesToRemoveADirectoryWithContents) {
  fs::create_directories(outside_ / "root/etc/full/sub");
  EXPECT_EQ(MessageOf(root_.Remove("/etc/full")), "removing /etc/full: unlink: Directory not empty");
}

TEST_F(RootTest, ClearsTheRemainsOfAnAttemptEvenADirectoryWithContents) {
  fs::create_directories(outside_ / "root/etc" / TemporaryNameOf("dir") / TemporaryNameOf("file"));
  ASSERT_TRUE(Succeeded(root_.Remove("/etc/dir")));
  EXPECT_THAT(Names("/etc"), ElementsAre());
}

TEST_F(RootTest, DoesNotFollowTheRemainsWithoutEnd) {
  fs::path deep = outside_ / "root/etc" / TemporaryNameOf("dir");
  for (int i = 0; i < 300; ++i) deep /= ".pintle-a";
  fs::create_directories(deep);
  const auto removed = root_.Remove("/etc/dir");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().kind(), ErrorKind::kConflict);
  EXPECT_THAT(MessageOf(removed), HasSubstr("its directories are nested too deep"));
}

TEST_F(RootTest, RemovesNothingThatOthersHaveMade) {
  fs::create_directories(outside_ / "root/etc" / TemporaryNameOf("dir") / "theirs");
  EXPECT_THAT(MessageOf(root_.Remove("/etc/dir")), HasSubstr("Directory not empty"));
}

TEST(RootOpen, NamesTheMissingRoot) {
  EXPECT_EQ(MessageOf(Root::Open("/no/such/root")), "opening the root /no/such/root: open: No such file or directory");
}

}  // namespace
}  // namespace pintle
