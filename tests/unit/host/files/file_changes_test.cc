// SPDX-License-Identifier: Apache-2.0
#include "host/files/file_changes.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using resource::EntryKind;
using testing::HasSubstr;
using State = resource::FileEntry::State;

class FileChangesTest : public testing::Test {
 protected:
  FileChangesTest()
      : root_(ValueOf(Root::Open((outside_ / "root").string()))),
        blobs_(ValueOf(BlobStore::Open(root_, "/store"))),
        changes_(root_, blobs_, Labels()) {}

  struct Outside : TemporaryDirectory {
    Outside() {
      fs::create_directories(path() / "root/etc");
      Write("secret", "not yours");
    }
  };

  static State OwnState(EntryKind kind, std::int64_t permissions) {
    State state;
    state.kind = kind;
    state.permissions = permissions;
    state.user.id = ::getuid();
    state.group.id = ::getgid();
    return state;
  }
  State File(const std::string& contents, std::int64_t permissions = 0644) {
    State state = OwnState(EntryKind::kFile, permissions);
    state.sha256 = ValueOf(blobs_.Add(contents));
    return state;
  }
  static State Link(std::string target) {
    State state = OwnState(EntryKind::kLink, 0777);
    state.target = std::move(target);
    return state;
  }
  static State Directory(std::int64_t permissions = 0755) { return OwnState(EntryKind::kDirectory, permissions); }

  Result<> PutOne(const std::string& path, std::optional<State> want) {
    return Put(root_, blobs_, {path, std::move(want)}, Labels());
  }
  Result<> PutAll(const std::vector<FilePut>& puts) {
    for (const FilePut& put : puts) TRY(changes_.Prepare(put));
    TRY(changes_.Sync());
    for (const FilePut& put : puts) TRY(changes_.Commit(put));
    return changes_.Sync();
  }

  fs::path At(const std::string& name) { return outside_ / ("root/" + name); }
  std::string Read(const std::string& name) { return outside_.Read("root/" + name); }
  struct stat StatusOf(const std::string& name) {
    struct stat status = {};
    EXPECT_EQ(::lstat(At(name).c_str(), &status), 0) << name;
    return status;
  }
  std::string Attribute(const std::string& name, const char* attribute) {
    char value[64];
    const ssize_t length = ::lgetxattr(At(name).c_str(), attribute, value, sizeof value);
    return length < 0 ? "none" : std::string(value, static_cast<std::size_t>(length));
  }
  bool SetAttribute(const std::string& name, const char* attribute, std::string_view value) {
    return ::setxattr(At(name).c_str(), attribute, value.data(), value.size(), 0) == 0;
  }
  // Checks that a directory has these names, and no temporary ones.
  void ExpectNames(const std::string& directory, std::vector<std::string> names) {
    EXPECT_EQ(ValueOf(root_.List(directory)), names);
  }

  Outside outside_;
  Root root_;
  BlobStore blobs_;
  FileChanges changes_;
};

TEST_F(FileChangesTest, ChangesNoVisibleFileBeforeTheCommit) {
  outside_.Write("root/etc/motd", "old");
  const FilePut puts[] = {{"/etc/motd", File("new")}, {"/etc/new.d", Directory()}, {"/etc/new.d/file", File("new")}};
  for (const FilePut& put : puts) ASSERT_TRUE(Succeeded(changes_.Prepare(put)));
  EXPECT_EQ(Read("etc/motd"), "old");
  EXPECT_FALSE(fs::exists(At("etc/new.d")));
  for (const FilePut& put : puts) ASSERT_TRUE(Succeeded(changes_.Commit(put)));
  EXPECT_EQ(Read("etc/motd"), "new");
  EXPECT_EQ(Read("etc/new.d/file"), "new");
  ASSERT_TRUE(Succeeded(changes_.Sync()));
  ExpectNames("/etc", {"motd", "new.d"});
}

TEST_F(FileChangesTest, LeavesNoFilesIfItIsAbandoned) {
  for (const FilePut& put : {FilePut{"/etc/file", File("x")}, FilePut{"/etc/a", Directory()},
                             FilePut{"/etc/a/b", Directory()}, FilePut{"/etc/a/b/file", File("x")}}) {
    ASSERT_TRUE(Succeeded(changes_.Prepare(put)));
  }
  changes_.Abandon();
  ExpectNames("/etc", {});
}

TEST_F(FileChangesTest, SetsPermissionsWithSetUserId) {
  ASSERT_TRUE(Succeeded(PutOne("/etc/tool", File("x", 04755))));
  EXPECT_EQ(StatusOf("etc/tool").st_mode & 07777, 04755U);
  ASSERT_TRUE(Succeeded(PutOne("/etc/dir", Directory(01777))));
  EXPECT_EQ(StatusOf("etc/dir").st_mode & 07777, 01777U);
  ASSERT_TRUE(Succeeded(PutOne("/etc/dir", Directory(02750))));
  EXPECT_EQ(StatusOf("etc/dir").st_mode & 07777, 02750U);
}

TEST_F(FileChangesTest, SetsTheOwner) {
  if (::getuid() != 0) FAIL() << "run this test as root: it gives a file to another user";
  for (State want : {File("x"), Directory(), Link("x")}) {
    want.user.id = 12;
    want.group.id = 34;
    ASSERT_TRUE(Succeeded(PutOne("/etc/theirs", want)));
    EXPECT_EQ(StatusOf("etc/theirs").st_uid, 12U);
    EXPECT_EQ(StatusOf("etc/theirs").st_gid, 34U);
    ASSERT_TRUE(Succeeded(PutOne("/etc/theirs", std::nullopt)));
  }
}

TEST_F(FileChangesTest, LeavesFilesAloneThatAreAsWanted) {
  for (const State& want : {File("text"), Link("target"), Directory()}) {
    ASSERT_TRUE(Succeeded(PutOne("/etc/thing", want)));
    const struct stat before = StatusOf("etc/thing");
    ASSERT_TRUE(Succeeded(PutOne("/etc/thing", want)));
    const struct stat after = StatusOf("etc/thing");
    EXPECT_EQ(after.st_ino, before.st_ino);
    EXPECT_EQ(after.st_ctim.tv_nsec, before.st_ctim.tv_nsec);
    ASSERT_TRUE(Succeeded(PutOne("/etc/thing", std::nullopt)));
  }
}

TEST_F(FileChangesTest, ReplacesFilesAndLinksByEachOther) {
  outside_.Write("root/etc/thing", "file");
  ASSERT_TRUE(Succeeded(PutOne("/etc/thing", Link("../../secret"))));
  EXPECT_EQ(fs::read_symlink(At("etc/thing")), "../../secret");
  ASSERT_TRUE(Succeeded(PutOne("/etc/thing", File("file again"))));
  EXPECT_EQ(Read("etc/thing"), "file again");
  EXPECT_EQ(outside_.Read("secret"), "not yours");
  ExpectNames("/etc", {"thing"});
}

TEST_F(FileChangesTest, ReplacesAnEmptyDirectoryAndPutsItBack) {
  fs::create_directory(At("etc/thing"));
  ASSERT_TRUE(Succeeded(PutOne("/etc/thing", File("file"))));
  EXPECT_EQ(Read("etc/thing"), "file");
  ASSERT_TRUE(Succeeded(PutOne("/etc/thing", Directory(0700))));
  EXPECT_TRUE(fs::is_directory(At("etc/thing")));
  ExpectNames("/etc", {"thing"});
}

TEST_F(FileChangesTest, RefusesToReplaceADirectoryWithContents) {
  fs::create_directories(At("etc/thing/inside"));
  EXPECT_EQ(MessageOf(PutOne("/etc/thing", File("file"))),
            "writing /etc/thing: a directory that is not empty is there: move it away");
  ExpectNames("/etc", {"thing"});
}

TEST_F(FileChangesTest, KeepsAFileThatComesIntoADirectoryToBeReplaced) {
  fs::create_directory(At("etc/thing"));
  const FilePut put = {"/etc/thing", File("file")};
  ASSERT_TRUE(Succeeded(changes_.Prepare(put)));
  outside_.Write("root/etc/thing/theirs", "precious");
  EXPECT_THAT(MessageOf(changes_.Commit(put)), HasSubstr("a directory that is not empty is there"));
  EXPECT_EQ(Read("etc/thing/theirs"), "precious");
  ExpectNames("/etc", {"thing"});
}

TEST_F(FileChangesTest, RemovesFilesLinksAndEmptyDirectoriesAndLeavesFullDirectories) {
  outside_.Write("root/etc/file", "");
  fs::create_symlink("../../secret", At("etc/link"));
  fs::create_directories(At("etc/empty"));
  fs::create_directories(At("etc/full/theirs"));
  for (const char* path : {"/etc/file", "/etc/link", "/etc/empty", "/etc/full", "/etc/none", "/none/at/all"}) {
    EXPECT_TRUE(Succeeded(PutOne(path, std::nullopt))) << path;
  }
  ExpectNames("/etc", {"full"});
  EXPECT_EQ(outside_.Read("secret"), "not yours");
}

TEST_F(FileChangesTest, GivesAFileWithHardLinksItsOwnInode) {
  outside_.Write("root/etc/one", "old");
  fs::create_hard_link(At("etc/one"), At("etc/other"));
  ASSERT_TRUE(Succeeded(PutOne("/etc/one", File("new"))));
  EXPECT_EQ(Read("etc/one"), "new");
  EXPECT_EQ(Read("etc/other"), "old");
}

TEST_F(FileChangesTest, NeverFollowsAPathOutOfItsRoot) {
  fs::create_directory_symlink("../../..", At("etc/up"));
  fs::create_directory_symlink("/etc", At("whole"));
  ASSERT_TRUE(Succeeded(PutOne("/etc/up/secret", File("mine"))));
  ASSERT_TRUE(Succeeded(PutOne("/whole/inside", File("mine"))));
  EXPECT_EQ(outside_.Read("secret"), "not yours");
  EXPECT_EQ(Read("secret"), "mine");
  EXPECT_EQ(Read("etc/inside"), "mine");
}

TEST_F(FileChangesTest, ReachesOnePlaceByTwoPaths) {
  fs::create_directory_symlink("etc", At("link"));
  ASSERT_TRUE(Succeeded(PutAll({{"/etc/new.d", Directory()},
                                {"/link/new.d", Directory()},
                                {"/etc/new.d/one", File("1")},
                                {"/link/new.d/two", File("2")},
                                {"/etc/same", File("first")},
                                {"/link/same", File("last")}})));
  EXPECT_EQ(Read("etc/new.d/one"), "1");
  EXPECT_EQ(Read("etc/new.d/two"), "2");
  EXPECT_EQ(Read("etc/same"), "last");
  ExpectNames("/etc", {"new.d", "same"});
}

TEST_F(FileChangesTest, UsesTheLaterOfTwoChangesToAPath) {
  ASSERT_TRUE(Succeeded(PutAll({{"/etc/thing", File("first")}, {"/etc/thing", File("last")}})));
  EXPECT_EQ(Read("etc/thing"), "last");
  ASSERT_TRUE(Succeeded(PutAll({{"/etc/thing", File("first")}, {"/etc/thing", std::nullopt}})));
  ExpectNames("/etc", {});
}

TEST_F(FileChangesTest, PreparesAnUnpreparedChangeAtTheCommit) {
  ASSERT_TRUE(Succeeded(changes_.Commit({"/etc/file", File("x")})));
  EXPECT_EQ(Read("etc/file"), "x");
}

TEST_F(FileChangesTest, ClearsTheRemainsOfACrash) {
  outside_.Write("root/etc/" + TemporaryNameOf("same"), "half");
  outside_.Write("root/etc/same", "text");
  fs::create_directories(At("etc/" + TemporaryNameOf("new.d")) / TemporaryNameOf("sub") / TemporaryNameOf("file"));
  fs::create_directories(At("etc/" + TemporaryNameOf("gone")));
  ASSERT_TRUE(Succeeded(PutOne("/etc/same", File("text"))));
  ASSERT_TRUE(Succeeded(PutOne("/etc/new.d", File("text"))));
  ASSERT_TRUE(Succeeded(PutOne("/etc/gone", std::nullopt)));
  ExpectNames("/etc", {"new.d", "same"});
}

// Users know the names of our temporary entries.
TEST_F(FileChangesTest, MakesAFileWhereAUserHasTakenTheTemporaryNames) {
  fs::create_directories(At("conf") / TemporaryNameOf("") / "theirs");
  fs::create_directories(At("conf") / TemporaryNameOf("app") / "theirs");
  fs::create_directories(At("conf") / TemporaryNameOf("new.d") / ".pintle-deep");
  fs::path deep = At("conf") / TemporaryNameOf("link");
  for (int i = 0; i < 300; ++i) deep /= ".pintle-a";
  fs::create_directories(deep);
  ASSERT_EQ(::chown(At("conf").c_str(), 1000, 1000), 0);
  ASSERT_TRUE(Succeeded(PutAll({{"/conf/app", File("one")},
                                {"/conf/new.d", Directory()},
                                {"/conf/new.d/file", File("two")},
                                {"/conf/link", Link("app")}})));
  EXPECT_EQ(Read("conf/app") + Read("conf/new.d/file") + Read("conf/link"), "onetwoone");
  ASSERT_TRUE(Succeeded(PutAll({{"/conf/app", File("three")}, {"/conf/link", std::nullopt}})));
  EXPECT_EQ(Read("conf/app"), "three");
  std::vector<std::string> names = {TemporaryNameOf(""), TemporaryNameOf("app"), TemporaryNameOf("link"), "app",
                                    "new.d"};
  std::sort(names.begin(), names.end());
  ExpectNames("/conf", names);
  EXPECT_TRUE(fs::exists(At("conf") / TemporaryNameOf("") / "theirs"));
}

TEST_F(FileChangesTest, KeepsTheAttributesOfAReplacedFileUnlessTheyAreSet) {
  outside_.Write("root/etc/file", "old");
  if (!SetAttribute("etc/file", "user.note", "theirs")) FAIL() << "this file system has no extended attributes";
  const bool has_capability =
      SetAttribute("etc/file", "security.capability", std::string_view("\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20));
  ASSERT_TRUE(Succeeded(PutOne("/etc/file", File("new"))));
  EXPECT_EQ(Attribute("etc/file", "user.note"), "theirs");
  if (has_capability) {
    EXPECT_EQ(Attribute("etc/file", "security.capability"), "none");
  }
}

TEST_F(FileChangesTest, TrustsAnEarlierObservationOfAnUnchangedFile) {
  outside_.Write("root/etc/file", "old");
  fs::permissions(At("etc/file"), fs::perms(0644));
  State was = File("old");
  was.attributes.emplace()["user.note"] = "c2Vlbg==";  // This is "seen"; the file does not have the attribute.
  const FilePut put = {"/etc/file", File("new")};
  ASSERT_TRUE(Succeeded(changes_.Prepare(put, Before{&was, Fingerprint::Of(StatusOf("etc/file"))})));
  ASSERT_TRUE(Succeeded(changes_.Commit(put)));
  EXPECT_EQ(Read("etc/file") + " " + Attribute("etc/file", "user.note"), "new seen");
}

constexpr const char* kEdited = "someone has edited it during the change, and the edit stays";

TEST_F(FileChangesTest, RefusesAFileThatHasChangedSinceItWasSeen) {
  outside_.Write("root/etc/file", "edit");
  const State was = ValueOf(ObserveAndKeep(root_, blobs_, "/etc/file")).value();
  State other = was;
  other.sha256 = ValueOf(blobs_.Add("orig"));
  for (const std::optional<State>& want : {std::optional(File("new")), std::optional<State>()}) {
    EXPECT_THAT(MessageOf(changes_.Prepare({"/etc/file", want}, Before{&other})), HasSubstr(kEdited));
    EXPECT_THAT(MessageOf(changes_.Prepare({"/etc/file", want}, Before{nullptr})), HasSubstr(kEdited));
    EXPECT_TRUE(Succeeded(changes_.Prepare({"/etc/file", want}, Before{&was})));
  }
  EXPECT_THAT(MessageOf(changes_.Prepare({"/etc/gone", File("new")}, Before{&was})), HasSubstr(kEdited));
  EXPECT_THAT(MessageOf(changes_.Prepare({"/etc/gone", File("new")}, Before{&was})), HasSubstr(kEdited));
  EXPECT_TRUE(Succeeded(changes_.Prepare({"/etc/file", File("edit")}, Before{&other}))) << "as it is wanted";
}

// The clock does not matter: someone may have put it back since the file was seen.
TEST_F(FileChangesTest, RefusesAFileWhoseTimesAreEarlierThanWhenItWasSeen) {
  outside_.Write("root/etc/file", "old");
  State was = ValueOf(ObserveAndKeep(root_, blobs_, "/etc/file")).value();
  Fingerprint seen = Fingerprint::Of(StatusOf("etc/file"));
  seen.changed += 3'600'000'000'000;
  outside_.Write("root/etc/file", "new");
  EXPECT_THAT(MessageOf(changes_.Prepare({"/etc/file", File("x")}, Before{&was, seen})), HasSubstr(kEdited));
}

// A change that somebody makes to /etc/file between Prepare and Commit.
struct Edit {
  const char* name;
  std::function<void(const fs::path& file)> make;
};

const Edit kEdits[] = {
    {"written over", [](const fs::path& file) { std::ofstream(file) << "edit"; }},
    {"written over with the same length", [](const fs::path& file) { std::ofstream(file) << "xyz"; }},
    {"appended to", [](const fs::path& file) { std::ofstream(file, std::ios::app) << "edit"; }},
    {"replaced",
     [](const fs::path& file) {
       std::ofstream(file.string() + "~") << "old";
       fs::rename(file.string() + "~", file);
       fs::permissions(file, fs::perms(0600));
     }},
    {"made a link",
     [](const fs::path& file) {
       fs::remove(file);
       fs::create_symlink("edit", file);
     }},
    {"made a directory",
     [](const fs::path& file) {
       fs::remove(file);
       fs::create_directories(file / "edit");
     }},
    {"given other permissions", [](const fs::path& file) { fs::permissions(file, fs::perms(0600)); }},
};

TEST_F(FileChangesTest, KeepsEveryEditThatIsMadeBeforeItsCommit) {
  const auto describe = [&] {
    const fs::path file = At("etc/file");
    std::string text = std::to_string(StatusOf("etc/file").st_mode);
    if (fs::is_symlink(file)) return text + " to " + fs::read_symlink(file).string();
    return text + (fs::is_directory(file) ? std::string(" directory") : " with " + Read("etc/file"));
  };
  for (const std::optional<State>& want :
       {std::optional(File("new")), std::optional(Link("new")), std::optional(Directory()), std::optional<State>()}) {
    for (const Edit& edit : kEdits) {
      fs::remove_all(At("etc"));
      fs::create_directory(At("etc"));
      outside_.Write("root/etc/file", "old");
      FileChanges changes(root_, blobs_, Labels());
      const State was = ValueOf(ObserveAndKeep(root_, blobs_, "/etc/file")).value();
      const FilePut put = {"/etc/file", want};
      ASSERT_TRUE(Succeeded(changes.Prepare(put, Before{&was}))) << edit.name;
      ASSERT_TRUE(Succeeded(changes.Sync())) << edit.name;
      edit.make(At("etc/file"));
      const std::string edited = describe();
      EXPECT_THAT(MessageOf(changes.Commit(put)), HasSubstr(kEdited)) << edit.name;
      changes.Abandon();
      EXPECT_EQ(describe(), edited) << edit.name;
      ExpectNames("/etc", {"file"});
    }
  }
}

TEST_F(FileChangesTest, KeepsAFileThatAppearsAtAnEmptyPlace) {
  const FilePut put = {"/etc/file", File("new")};
  ASSERT_TRUE(Succeeded(changes_.Prepare(put)));
  outside_.Write("root/etc/file", "edit");
  EXPECT_THAT(MessageOf(changes_.Commit(put)), HasSubstr(kEdited));
  EXPECT_EQ(Read("etc/file"), "edit");
}

// An editor has the file open all the time.
TEST_F(FileChangesTest, RestoresWritesToAFileThatItHasReplacedOrRemoved) {
  for (const std::optional<State>& want : {std::optional(File("new")), std::optional<State>()}) {
    outside_.Write("root/etc/file", "old");
    const State was = ValueOf(ObserveAndKeep(root_, blobs_, "/etc/file")).value();
    const FilePut put = {"/etc/file", want};
    ASSERT_TRUE(Succeeded(changes_.Prepare(put, Before{&was})));
    std::ofstream editor(At("etc/file"), std::ios::app);
    ASSERT_TRUE(Succeeded(changes_.Commit(put)));
    editor << " and edited" << std::flush;
    EXPECT_THAT(MessageOf(changes_.Sync()), HasSubstr(kEdited));
    EXPECT_EQ(Read("etc/file"), "old and edited");
    ExpectNames("/etc", {"file"});
    fs::remove(At("etc/file"));
  }
}

TEST_F(FileChangesTest, ReplacesAFileByADirectoryAndADirectoryByAFileInOneChange) {
  fs::create_directory(At("etc/one"));
  outside_.Write("root/etc/one/inside", "old");
  outside_.Write("root/etc/two", "old");
  ASSERT_TRUE(Succeeded(PutAll({{"/etc/one/inside", std::nullopt},
                                {"/etc/one", File("new")},
                                {"/etc/two", Directory()},
                                {"/etc/two/inside", File("new")}})));
  EXPECT_EQ(Read("etc/one"), "new");
  EXPECT_EQ(Read("etc/two/inside"), "new");
  ExpectNames("/etc", {"one", "two"});
  ASSERT_TRUE(Succeeded(PutAll({{"/etc/two/inside", std::nullopt},
                                {"/etc/two", File("old")},
                                {"/etc/one", Directory()},
                                {"/etc/one/inside", File("old")}})));
  EXPECT_EQ(Read("etc/two"), "old");
  EXPECT_EQ(Read("etc/one/inside"), "old");
}

TEST_F(FileChangesTest, SetsOnlyTheGivenAttributes) {
  outside_.Write("root/etc/file", "text");
  if (!SetAttribute("etc/file", "user.note", "theirs")) FAIL() << "this file system has no extended attributes";
  State want = File("text");
  want.attributes.emplace()["user.color"] = "cmVk";
  ASSERT_TRUE(Succeeded(PutOne("/etc/file", want)));
  EXPECT_EQ(Attribute("etc/file", "user.note"), "none");
  EXPECT_EQ(Attribute("etc/file", "user.color"), "red");
  want.attributes.emplace();
  ASSERT_TRUE(Succeeded(PutOne("/etc/file", want)));
  EXPECT_EQ(Attribute("etc/file", "user.color"), "none");
}

TEST_F(FileChangesTest, IgnoresTheDirectorysDefaultAccessListIfAttributesAreGiven) {
  // These bytes are the value of the attribute that `setfacl -d -m u:12:rwx` sets.
  constexpr std::string_view kList(
      "\2\0\0\0\1\0\7\0\xff\xff\xff\xff\2\0\7\0\14\0\0\0\4\0\7\0\xff\xff\xff\xff\20\0\7\0\xff\xff\xff\xff\40\0\0\0\xff"
      "\xff\xff\xff",
      44);
  if (!SetAttribute("etc", "system.posix_acl_default", kList)) FAIL() << "this file system has no access lists";
  State want = File("text", 0640);
  ASSERT_TRUE(Succeeded(PutOne("/etc/inherits", want)));
  EXPECT_NE(Attribute("etc/inherits", "system.posix_acl_access"), "none");
  want.attributes.emplace();
  ASSERT_TRUE(Succeeded(PutOne("/etc/exact", want)));
  EXPECT_EQ(Attribute("etc/exact", "system.posix_acl_access"), "none");
  EXPECT_EQ(StatusOf("etc/exact").st_mode & 07777, 0640U);
}

// Sets a file's immutable bit during its lifetime, where that is possible.
class Immutable {
 public:
  explicit Immutable(const fs::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    int flags = FS_IMMUTABLE_FL;
    works_ = ::ioctl(fd_.get(), FS_IOC_SETFLAGS, &flags) == 0;
  }
  ~Immutable() {
    int flags = 0;
    if (works_) ::ioctl(fd_.get(), FS_IOC_SETFLAGS, &flags);
  }
  Immutable(const Immutable&) = delete;
  Immutable& operator=(const Immutable&) = delete;

  bool works() const { return works_; }

 private:
  UniqueFd fd_;
  bool works_ = false;
};

TEST_F(FileChangesTest, ExplainsAnImmutableFileBeforeAnythingIsChanged) {
  outside_.Write("root/etc/fixed", "old");
  const Immutable fixed(At("etc/fixed"));
  if (!fixed.works()) FAIL() << "this file system has no immutable bit";
  EXPECT_EQ(MessageOf(changes_.Prepare({"/etc/fixed", File("new")})),
            "writing /etc/fixed: the existing entry is immutable: `chattr -i` makes it changeable");
  EXPECT_THAT(MessageOf(changes_.Prepare({"/etc/fixed", std::nullopt})), HasSubstr("chattr -i"));
  EXPECT_TRUE(Succeeded(changes_.Prepare({"/etc/fixed", File("old")})));
  ExpectNames("/etc", {"fixed"});
}

TEST_F(FileChangesTest, ExplainsAnImmutableDirectory) {
  const Immutable fixed(At("etc"));
  if (!fixed.works()) FAIL() << "this file system has no immutable bit";
  EXPECT_EQ(MessageOf(changes_.Prepare({"/etc/file", File("new")})),
            "writing /etc/file: the directory /etc is immutable: `chattr -i` makes it changeable");
}

TEST_F(FileChangesTest, RefusesOtherTypesOfFiles) {
  ASSERT_EQ(::mkfifo(At("etc/pipe").c_str(), 0600), 0);
  EXPECT_THAT(MessageOf(PutOne("/etc/pipe", File("x"))),
              HasSubstr("writing /etc/pipe: there is a named pipe in its place"));
  EXPECT_THAT(MessageOf(PutOne("/etc/pipe", std::nullopt)),
              HasSubstr("removing /etc/pipe: there is a named pipe in its place"));
}

TEST_F(FileChangesTest, RefusesPathsThatDoNotEndInAName) {
  for (const char* path : {"", "/", "/etc/", "/etc/..", "etc/file"}) EXPECT_FALSE(PutOne(path, File("x"))) << path;
}

TEST_F(FileChangesTest, NamesMissingContents) {
  State want = File("x");
  want.sha256 = std::string(64, '0');
  EXPECT_THAT(MessageOf(PutOne("/etc/file", want)), HasSubstr("has no contents with the digest 000"));
  ExpectNames("/etc", {});
}

TEST_F(FileChangesTest, WritesAndSyncsAHundredFiles) {
  std::vector<FilePut> puts = {{"/etc/many", Directory()}};
  for (int i = 0; i < 100; ++i) puts.push_back({"/etc/many/" + std::to_string(i), File(std::to_string(i))});
  ASSERT_TRUE(Succeeded(PutAll(puts)));
  EXPECT_EQ(Read("etc/many/99"), "99");
}

#ifdef PINTLE_HAS_SELINUX
TEST_F(FileChangesTest, GivesNewFilesTheLabelOfThePolicy) {
  outside_.Write("contexts", "/etc/labelled  --  system_u:object_r:etc_t:s0\n/etc/none  <<none>>\n");
  const Labels labels = Labels::FromFile((outside_ / "contexts").string());
  EXPECT_EQ(labels.LabelFor("/etc/labelled", EntryKind::kFile), "system_u:object_r:etc_t:s0");
  EXPECT_EQ(labels.LabelFor("/etc/labelled", EntryKind::kDirectory), std::nullopt);
  EXPECT_EQ(labels.LabelFor("/etc/none", EntryKind::kFile), std::nullopt);
  const auto put = Put(root_, blobs_, {"/etc/labelled", File("x")}, labels);
  if (::getuid() != 0) FAIL() << "run this test as root: it sets labels";
  ASSERT_TRUE(Succeeded(put));
  EXPECT_EQ(Attribute("etc/labelled", "security.selinux"), std::string("system_u:object_r:etc_t:s0\0", 27));
}
#endif

}  // namespace
}  // namespace pintle::host
