// SPDX-License-Identifier: Apache-2.0
#include "host/files/originals.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "base/digest.h"
#include "host/files/file_changes.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using resource::EntryKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using State = resource::FileEntry::State;

constexpr const char* kMotdOriginal = "/etc/machine-config-daemon/orig/etc/motd.mcdorig";
constexpr const char* kNewStamp = "/etc/machine-config-daemon/noorig/etc/new.mcdnoorig";

class OriginalsTest : public testing::Test {
 protected:
  OriginalsTest()
      : root_(ValueOf(Root::Open(directory_.path().string()))), blobs_(ValueOf(BlobStore::Open(root_, "/store"))) {
    fs::create_directories(directory_ / "etc");
    directory_.Write("etc/motd", "the admin's");
  }

  std::vector<FilePut> Keep(const std::vector<std::string>& taken, const std::vector<FilePut>& made = {}) {
    return ValueOf(StepsToKeep(root_, blobs_, taken, made));
  }
  RestoredOriginals Find(const std::vector<std::string>& given_back, const std::vector<std::string>& wanted = {}) {
    return ValueOf(FindOriginals(root_, blobs_, given_back, wanted));
  }
  void PutAll(std::vector<FilePut> puts) {
    for (FilePut& put : puts) {
      if (put.want) put.want->user.id = ::getuid();
      if (put.want) put.want->group.id = ::getgid();
      ASSERT_TRUE(Succeeded(Put(root_, blobs_, put, Labels())));
    }
  }
  // Keeps the original and then writes the file, in the order of a whole change.
  void Take(const std::string& path, const std::string& contents) {
    State state;
    state.sha256 = ValueOf(blobs_.Add(contents));
    state.permissions = 0644;
    const std::vector<FilePut> puts = {{path, state}};
    const auto made = ValueOf(MissingDirectories(root_, puts));
    PutAll(Keep({path}, made));
    PutAll(made);
    PutAll(puts);
  }
  void GiveBack(const std::string& path, const std::vector<std::string>& wanted = {}) {
    RestoredOriginals given_back = Find({path}, wanted);
    const auto original = given_back.originals.find(path);
    PutAll({{path, original == given_back.originals.end() ? std::nullopt : std::optional(original->second)}});
    PutAll(given_back.afterwards);
  }
  bool Exists(const std::string& path) { return fs::exists(fs::symlink_status(directory_ / path.substr(1))); }
  static std::vector<std::string> Keys(const std::vector<FilePut>& puts) {
    std::vector<std::string> keys;
    for (const FilePut& put : puts) keys.push_back(put.key);
    return keys;
  }

  TemporaryDirectory directory_;
  Root root_;
  BlobStore blobs_;
};

TEST_F(OriginalsTest, KeepsAnExistingFileAndRecordsAMissingOne) {
  ASSERT_EQ(::chmod((directory_ / "etc/motd").c_str(), 0751), 0);
  PutAll(Keep({"/etc/motd", "/etc/new"}));
  EXPECT_EQ(directory_.Read(std::string(kMotdOriginal).substr(1)), "the admin's");
  EXPECT_EQ(ValueOf(root_.Status(kMotdOriginal))->st_mode & 07777, 0751U);
  EXPECT_EQ(ValueOf(root_.ReadFile(kNewStamp)), "");
  EXPECT_EQ(directory_.Read("etc/motd"), "the admin's");
}

TEST_F(OriginalsTest, ChangesNothingAndListsDirectoriesFirst) {
  const auto steps = Keep({"/etc/motd"});
  EXPECT_FALSE(Exists("/etc/machine-config-daemon"));
  EXPECT_THAT(Keys(steps), ElementsAre("/etc/machine-config-daemon", "/etc/machine-config-daemon/orig",
                                       "/etc/machine-config-daemon/orig/etc", kMotdOriginal));
}

TEST_F(OriginalsTest, NeverOverwritesAKeptFileOrARecord) {
  PutAll(Keep({"/etc/motd", "/etc/new"}));
  directory_.Write("etc/motd", "the config's");
  directory_.Write("etc/new", "the config's");
  EXPECT_THAT(Keep({"/etc/motd", "/etc/new"}), IsEmpty());
  fs::remove(directory_ / std::string(kMotdOriginal).substr(1));
  fs::create_symlink("/nowhere", directory_ / std::string(kMotdOriginal).substr(1));
  EXPECT_THAT(Keep({"/etc/motd"}), IsEmpty());
}

TEST_F(OriginalsTest, RestoresTheOriginalAndLeavesNoTrace) {
  Take("/etc/motd", "the config's");
  EXPECT_EQ(directory_.Read("etc/motd"), "the config's");
  GiveBack("/etc/motd");
  EXPECT_EQ(directory_.Read("etc/motd"), "the admin's");
  EXPECT_FALSE(Exists("/etc/machine-config-daemon/orig/etc"));
}

TEST_F(OriginalsTest, RestoresALink) {
  fs::create_symlink("../usr/lib/os-release", directory_ / "etc/os-release");
  Take("/etc/os-release", "the config's");
  GiveBack("/etc/os-release");
  EXPECT_EQ(fs::read_symlink(directory_ / "etc/os-release"), "../usr/lib/os-release");
}

TEST_F(OriginalsTest, RemovesAnAddedFileAndTheDirectoriesMadeForIt) {
  Take("/etc/a/b/file", "the config's");
  EXPECT_TRUE(Exists("/etc/machine-config-daemon/noorig/etc/a/b.mcdnoorig"));
  GiveBack("/etc/a/b/file");
  EXPECT_FALSE(Exists("/etc/a"));
  EXPECT_FALSE(Exists("/etc/machine-config-daemon/noorig/etc"));
}

TEST_F(OriginalsTest, KeepsAFileWithTheLongestName) {
  const std::string longest(NAME_MAX, 'n');
  directory_.Write("etc/" + longest, "the admin's");
  Take("/etc/" + longest, "ours");
  GiveBack("/etc/" + longest);
  EXPECT_EQ(directory_.Read("etc/" + longest), "the admin's");
  EXPECT_NE(KeptOriginalPath("/etc/" + longest), KeptOriginalPath("/etc/" + std::string(NAME_MAX, 'm')));
}

TEST_F(OriginalsTest, LeavesADirectoryThatIsInUseOrWantedAndRecordsIt) {
  Take("/etc/a/one", "the config's");
  Take("/etc/a/two", "the config's");
  GiveBack("/etc/a/one");
  EXPECT_TRUE(Exists("/etc/a/two"));
  EXPECT_TRUE(Exists("/etc/machine-config-daemon/noorig/etc/a.mcdnoorig"));
  EXPECT_THAT(Keys(Find({"/etc/a/two"}, {"/etc/a/three"}).afterwards), testing::Not(testing::Contains("/etc/a")));
  GiveBack("/etc/a/two");
  EXPECT_FALSE(Exists("/etc/a"));
}

TEST_F(OriginalsTest, KeepsADirectoryThatExistedBefore) {
  fs::create_directory(directory_ / "etc/theirs");
  Take("/etc/theirs/file", "the config's");
  GiveBack("/etc/theirs/file");
  EXPECT_TRUE(Exists("/etc/theirs"));
}

TEST_F(OriginalsTest, UsesTheOriginalThatTheOperatorKept) {
  fs::create_directories(directory_ / "etc/machine-config-daemon/orig/etc");
  fs::create_directories(directory_ / "etc/machine-config-daemon/noorig/etc");
  directory_.Write(std::string(kMotdOriginal).substr(1), "the OS's");
  directory_.Write(std::string(kNewStamp).substr(1), "");
  const RestoredOriginals given_back = Find({"/etc/motd", "/etc/new"});
  ASSERT_EQ(given_back.originals.size(), 1U);
  EXPECT_EQ(given_back.originals.at("/etc/motd").sha256, Sha256("the OS's").hex());
  EXPECT_THAT(Keys(given_back.afterwards), IsSupersetOf({kMotdOriginal, kNewStamp}));
}

TEST_F(OriginalsTest, FallsBackToTheDefaultOfTheOsWithoutAnOriginal) {
  fs::create_directories(directory_ / "usr/etc");
  directory_.Write("usr/etc/motd", "the OS's");
  const RestoredOriginals given_back = Find({"/etc/motd", "/etc/other"});
  ASSERT_EQ(given_back.originals.size(), 1U);
  EXPECT_EQ(given_back.originals.at("/etc/motd").sha256, Sha256("the OS's").hex());
  EXPECT_EQ(given_back.originals.at("/etc/motd").attributes, std::nullopt);
}

}  // namespace
}  // namespace pintle::host
