// SPDX-License-Identifier: Apache-2.0
#include "host/files/files.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/digest.h"
#include "json/fields.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using resource::EntryKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = resource::FileEntry::State;

class FilesTest : public testing::Test {
 protected:
  FilesTest() : root_(ValueOf(Root::Open((outside_ / "root").string()))) {}

  struct Outside : TemporaryDirectory {
    Outside() {
      fs::create_directories(path() / "root/etc");
      Write("secret", "not yours");
    }
  };

  State At(const std::string& path) { return ValueOf(Observe(root_, path)).value(); }

  Outside outside_;
  Root root_;
};

TEST_F(FilesTest, ObservesContentsPermissionsAndOwnersOfAFile) {
  outside_.Write("root/etc/motd", "hello\n");
  ASSERT_EQ(::chmod((outside_ / "root/etc/motd").c_str(), 04751), 0);
  const State state = At("/etc/motd");
  EXPECT_EQ(state.kind, EntryKind::kFile);
  EXPECT_EQ(state.sha256, Sha256("hello\n").hex());
  EXPECT_EQ(state.permissions, 04751);
  EXPECT_EQ(state.user.id, ::getuid());
  EXPECT_EQ(state.group.id, ::getgid());
}

TEST_F(FilesTest, ObservesExtendedAttributesInBase64) {
  outside_.Write("root/etc/motd", "");
  if (::setxattr((outside_ / "root/etc/motd").c_str(), "user.note", "a\0b", 3, 0) != 0)
    FAIL() << "this file system has no extended attributes";
  EXPECT_EQ(At("/etc/motd").attributes.value().at("user.note"), "YQBi");
}

TEST_F(FilesTest, RemembersInJsonThatThereAreNoAttributes) {
  State state;
  state.attributes.emplace();
  json::Report report;
  EXPECT_TRUE(json::Equal(json::Decode<State>(json::Encode(state), report), state));
  state.attributes.reset();
  EXPECT_TRUE(json::Equal(json::Decode<State>(json::Encode(state), report), state));
}

TEST_F(FilesTest, ObservesALinkAndDoesNotFollowIt) {
  fs::create_symlink("../../secret", outside_ / "root/etc/link");
  const State state = At("/etc/link");
  EXPECT_EQ(state.kind, EntryKind::kLink);
  EXPECT_EQ(state.target, "../../secret");
}

TEST_F(FilesTest, ObservesADirectoryAndAMissingFile) {
  EXPECT_EQ(At("/etc").kind, EntryKind::kDirectory);
  outside_.Write("root/etc/file", "");
  for (const char* path : {"/etc/none", "/none/at/all", "/etc/file/below"}) {
    EXPECT_FALSE(ValueOf(Observe(root_, path)).has_value()) << path;
  }
}

TEST_F(FilesTest, DoesNotLookOutsideItsRoot) {
  fs::create_directory_symlink("../..", outside_ / "root/etc/up");
  EXPECT_FALSE(ValueOf(Observe(root_, "/etc/up/secret")).has_value());
  EXPECT_FALSE(ValueOf(Observe(root_, "/../secret")).has_value());
}

TEST_F(FilesTest, ReportsThatANamedPipeIsNoFile) {
  ASSERT_EQ(::mkfifo((outside_ / "root/etc/pipe").c_str(), 0600), 0);
  EXPECT_THAT(MessageOf(Observe(root_, "/etc/pipe")),
              HasSubstr("looking at /etc/pipe: there is a named pipe in its place"));
}

TEST_F(FilesTest, StoresTheContentsThatItObserves) {
  BlobStore blobs = ValueOf(BlobStore::Open(root_, "/store"));
  outside_.Write("root/etc/motd", "hello\n");
  const auto state = ValueOf(ObserveAndKeep(root_, blobs, "/etc/motd"));
  EXPECT_EQ(ValueOf(blobs.Read(state.value().sha256, 100)), "hello\n");
}

TEST(Matches, ComparesOnlyTheWantedFields) {
  State have;
  have.sha256 = "1";
  have.permissions = 0644;
  have.user = {.id = 7, .name = ""};
  have.attributes.emplace()["user.note"] = "YQ==";
  State want = have;
  want.user.name = "someone";
  want.attributes.reset();
  EXPECT_TRUE(Matches(want, have));
  want.attributes.emplace();
  EXPECT_FALSE(Matches(want, have));
  want = have;
  want.permissions = 0600;
  EXPECT_FALSE(Matches(want, have));
  want = have;
  want.user.id = 8;
  EXPECT_FALSE(Matches(want, have));
  want = have;
  want.kind = EntryKind::kDirectory;
  EXPECT_FALSE(Matches(want, have));
}

TEST(Matches, DoesNotCompareThePermissionsOfLinks) {
  State have;
  have.kind = EntryKind::kLink;
  have.target = "a";
  have.permissions = 0777;
  State want = have;
  want.permissions = 0;
  EXPECT_TRUE(Matches(want, have));
  want.target = "b";
  EXPECT_FALSE(Matches(want, have));
}

TEST(Matches, AcceptsAnyLabelIfNoneIsWanted) {
  State have;
  have.attributes.emplace()["security.selinux"] = "YQ==";
  State want;
  want.attributes.emplace();
  EXPECT_TRUE(Matches(want, have));
}

FilePut File(std::string path) { return {std::move(path), State()}; }

std::vector<std::string> KeysOf(const std::vector<FilePut>& puts) {
  std::vector<std::string> keys;
  for (const FilePut& put : puts) keys.push_back(put.key);
  return keys;
}

TEST_F(FilesTest, NamesEachMissingDirectoryOnceParentsFirst) {
  const FilePut puts[] = {File("/etc/a/b/one"),
                          File("/etc/a/b/two"),
                          File("/etc/a/c/three"),
                          File("/etc/four"),
                          {"/none/removed", std::nullopt}};
  const auto missing = ValueOf(MissingDirectories(root_, puts));
  EXPECT_THAT(KeysOf(missing), ElementsAre("/etc/a", "/etc/a/b", "/etc/a/c"));
  EXPECT_EQ(missing[0].want->kind, EntryKind::kDirectory);
  EXPECT_EQ(missing[0].want->permissions, 0755);
  EXPECT_EQ(missing[0].want->user.id, 0);
}

TEST_F(FilesTest, DoesNotNameADirectoryThatIsPutAnyway) {
  FilePut directory = {"/etc/a", State()};
  directory.want->kind = EntryKind::kDirectory;
  const FilePut puts[] = {directory, File("/etc/a/b/one")};
  EXPECT_THAT(KeysOf(ValueOf(MissingDirectories(root_, puts))), ElementsAre("/etc/a/b"));
}

TEST_F(FilesTest, FollowsALinkToADirectory) {
  fs::create_directory_symlink("/etc", outside_ / "root/link");
  const FilePut puts[] = {File("/link/file")};
  EXPECT_THAT(ValueOf(MissingDirectories(root_, puts)), IsEmpty());
}

TEST_F(FilesTest, RefusesToReplaceAFileInPlaceOfADirectory) {
  outside_.Write("root/etc/file", "");
  fs::create_symlink("nowhere", outside_ / "root/etc/dangling");
  const FilePut below_file[] = {File("/etc/file/below")};
  EXPECT_THAT(MessageOf(MissingDirectories(root_, below_file)),
              HasSubstr("/etc/file must be a directory, but is something else: move it away"));
  const FilePut below_link[] = {File("/etc/dangling/below")};
  EXPECT_THAT(MessageOf(MissingDirectories(root_, below_link)),
              HasSubstr("/etc/dangling is a link that leads nowhere: create its target"));
}

}  // namespace
}  // namespace pintle::host
