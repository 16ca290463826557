// SPDX-License-Identifier: Apache-2.0
#include "agent/config_directory.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kConfig =
    R"({"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,1"}}]}})";
constexpr const char* kSecret =
    R"({"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"core","passwordHash":"$6$geheim"}]}})";

class ConfigDirectoryTest : public testing::Test {
 protected:
  ConfigDirectoryTest() { fs::create_directory(directory_ / "config.d"); }

  Result<ConfigDirectory> Read() const { return ReadConfigDirectory(name_); }

  void Write(const std::string& name, const char* contents = kConfig) const {
    directory_.Write("config.d/" + name, contents);
    EXPECT_EQ(::chmod((name_ + "/" + name).c_str(), 0644), 0);
  }

  TemporaryDirectory directory_;
  const std::string name_ = directory_ / "config.d";
};

TEST_F(ConfigDirectoryTest, IsMissingOnlyIfNothingHasItsName) {
  EXPECT_TRUE(ValueOf(Read()).is_there);
  fs::remove(name_);
  EXPECT_FALSE(ValueOf(Read()).is_there);
  fs::create_symlink(directory_ / "elsewhere", name_);
  EXPECT_THAT(MessageOf(Read()), HasSubstr("is a link, and its target does not exist"));
  fs::create_directory(directory_ / "elsewhere");
  EXPECT_TRUE(ValueOf(Read()).is_there);
}

TEST_F(ConfigDirectoryTest, IsAnErrorIfItsParentIsMissing) {
  fs::create_directory_symlink(directory_.path(), directory_ / "way");
  const std::string name = directory_ / "way/config.d";
  EXPECT_TRUE(ValueOf(ReadConfigDirectory(name)).is_there);
  fs::remove(directory_ / "way");
  fs::create_directory_symlink(directory_ / "nowhere", directory_ / "way");
  EXPECT_THAT(MessageOf(ReadConfigDirectory(name)), HasSubstr("restore the parent"));
  fs::remove(directory_ / "way");
  EXPECT_EQ(ReadConfigDirectory(name).error().kind(), ErrorKind::kNotFound);
}

TEST_F(ConfigDirectoryTest, IsAnErrorIfItIsNoDirectory) {
  fs::remove(name_);
  directory_.Write("config.d", "");
  EXPECT_THAT(MessageOf(Read()), HasSubstr("is not a directory"));
  EXPECT_THAT(MessageOf(ReadConfigDirectory(name_ + "/")), HasSubstr("is not a directory"));
  EXPECT_THAT(MessageOf(ReadConfigDirectory(name_ + "/below")), HasSubstr("Not a directory"));
  fs::remove(name_);
  fs::create_symlink("config.d", name_);
  EXPECT_THAT(MessageOf(Read()), HasSubstr("symbolic links"));
}

TEST_F(ConfigDirectoryTest, WarnsOfEntriesThatAreNoFiles) {
  Write("50-a.json");
  ASSERT_EQ(::mkfifo((name_ + "/10-pipe.json").c_str(), 0644), 0);
  fs::create_directory(name_ + "/20-directory.yaml");
  fs::create_symlink("/dev/null", name_ + "/30-device.json");
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  (name_ + "/40-socket.ign").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const ConfigDirectory read = ValueOf(Read());
  EXPECT_THAT(read.configs, SizeIs(1));
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("10-pipe.json is a pipe"), HasSubstr("20-directory.yaml is a dir"),
                                         HasSubstr("30-device.json is a device"), HasSubstr("40-socket.ign is a soc")));
}

TEST_F(ConfigDirectoryTest, WarnsOfFileNamesThatNoConfigHas) {
  Write("50-a.json");
  for (const char* name : {"README", "README.md", "50-b.conf"}) Write(name, "no config");
  const ConfigDirectory read = ValueOf(Read());
  EXPECT_THAT(read.configs, SizeIs(1));
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("50-b.conf: its name ends in none of .yaml, ")));
}

TEST_F(ConfigDirectoryTest, IgnoresHiddenFilesAndCopies) {
  Write("50-a.json");
  for (const char* name : {".50-a.json.swp", ".50-a.json", "50-a.json~", "#50-a.json#"}) Write(name, "no config");
  fs::create_symlink("someone@host.1:2", name_ + "/.#50-a.json");
  const ConfigDirectory read = ValueOf(Read());
  EXPECT_THAT(read.configs, SizeIs(1));
  EXPECT_THAT(read.warnings, IsEmpty());
}

TEST_F(ConfigDirectoryTest, IsUnusableWithAConfigThatCannotBeRead) {
  Write("50-a.json");
  fs::create_symlink(directory_ / "elsewhere.json", name_ + "/60-b.json");
  EXPECT_THAT(MessageOf(Read()), HasSubstr("60-b.json: the file is a link, and its target does not exist"));
  fs::remove(name_ + "/60-b.json");
  fs::create_symlink("60-b.json", name_ + "/60-b.json");
  EXPECT_THAT(MessageOf(Read()), HasSubstr("symbolic links"));
}

TEST_F(ConfigDirectoryTest, RefusesAConfigThatOthersMayWrite) {
  Write("50-a.json");
  for (const mode_t mode : {0664U, 0646U}) {
    ASSERT_EQ(::chmod((name_ + "/50-a.json").c_str(), mode), 0);
    EXPECT_THAT(MessageOf(Read()), HasSubstr("50-a.json is not used, since users other than root may change it"));
  }
  ASSERT_EQ(::chmod((name_ + "/50-a.json").c_str(), 0644), 0);
  EXPECT_TRUE(Succeeded(Read()));
  // Others can replace a file in a directory that they may write to.
  ASSERT_EQ(::chmod(name_.c_str(), 0777), 0);
  EXPECT_THAT(MessageOf(Read()), HasSubstr("may write " + name_));
  // A sticky directory is accepted, since others can only replace their own files in it.
  ASSERT_EQ(::chmod(name_.c_str(), 01777), 0);
  EXPECT_TRUE(Succeeded(Read()));
}

TEST_F(ConfigDirectoryTest, ChecksTheTargetOfALink) {
  fs::create_directory(directory_ / "open");
  directory_.Write("open/a.json", kConfig);
  ASSERT_EQ(::chmod((directory_ / "open").c_str(), 0777), 0);
  fs::create_symlink("../open/a.json", name_ + "/50-a.json");
  EXPECT_THAT(MessageOf(Read()), HasSubstr("may write " + (directory_ / "open").string()));
  EXPECT_THAT(PlacesBehindLinks(name_), ElementsAre((directory_ / "open/a.json").string()));
}

TEST_F(ConfigDirectoryTest, RefusesAConfigOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  Write("50-a.json");
  ASSERT_EQ(::chown((name_ + "/50-a.json").c_str(), 1000, 0), 0);
  EXPECT_THAT(MessageOf(Read()), HasSubstr("belongs to the user 1000"));
}

TEST_F(ConfigDirectoryTest, WarnsOfASecretThatOthersMayRead) {
  Write("50-a.json", kSecret);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  const auto warnings = ValueOf(Read()).warnings;
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr("50-a.json, which has the password of core"));
  EXPECT_EQ(warnings[0].find("geheim"), std::string::npos);
  ASSERT_EQ(::chmod((name_ + "/50-a.json").c_str(), 0600), 0);
  EXPECT_THAT(ValueOf(Read()).warnings, IsEmpty());
  ASSERT_EQ(::chmod((name_ + "/50-a.json").c_str(), 0644), 0);
  ASSERT_EQ(::chmod(name_.c_str(), 0700), 0);
  EXPECT_THAT(ValueOf(Read()).warnings, IsEmpty());
}

TEST_F(ConfigDirectoryTest, FollowsEachOfSeveralLinksEvenToMissingTargets) {
  fs::create_symlink("../second", name_ + "/50-a.json");
  fs::create_symlink("third", directory_ / "second");
  EXPECT_THAT(PlacesBehindLinks(name_), ElementsAre((directory_ / "second").string(), (directory_ / "third").string()));
}

}  // namespace
}  // namespace pintle::agent
