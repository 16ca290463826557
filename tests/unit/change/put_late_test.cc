// SPDX-License-Identifier: Apache-2.0

// Tests a deployment that another program has finalized, so that it was booted without its managed files.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "change/apply.h"
#include "change/early.h"
#include "change/rejected.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/two_deployments.h"

namespace pintle::change {
namespace {

namespace fs = std::filesystem;
using plan::TestConfig;
using testing::HasSubstr;

std::string Contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class PuttingLate : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseOwnMounts(); }

  explicit PuttingLate(EndsWith ends_with = EndsWith::kTheBoot) {
    const TestConfig from = NoConfig();
    const TestConfig to = Everything();
    EXPECT_EQ(ValueOf(Apply(machine_.host(), from, to, plan::Make(from, to, {}, {}), {}, ends_with)),
              Ending::kRebootNeeded);
  }

  void FinalizeAndBoot() {
    fs::create_directories(directory_ / "new/var");
    for (const char* part : {"etc", "usr", "home"}) {
      fs::copy(directory_ / "old" / part, directory_ / "new" / part,
               fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    }
    directory_.Write("boot", "new");
    machine_.Boot();
  }
  void WriteMotd(const std::string& text) const { std::ofstream(machine_.top() / "etc/motd") << text; }
  std::string Motd() const { return Contents(machine_.top() / "etc/motd"); }

  TemporaryDirectory directory_;
  BootableMachine machine_{directory_.path()};
};

TEST_F(PuttingLate, KeepsAnEditMadeSinceStagingAndUndoesTheChange) {
  WriteMotd("edited");
  FinalizeAndBoot();
  host::SystemdOffline links(machine_.host().root);
  const host::Host host = machine_.host();
  EXPECT_FALSE(ValueOf(PutFilesEarly({host.root, links, host.clock, host.labels, host.deployments})));
  EXPECT_EQ(Motd(), "edited");
  const Recovered recovered = ValueOf(Recover(machine_.host()));
  EXPECT_EQ(recovered.how, Recovery::kRebootNeededToUndo);
  EXPECT_THAT(recovered.reason, HasSubstr("/etc/motd was edited while the change"));
  EXPECT_EQ(Motd(), "edited");
  machine_.Boot();
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kUndone);
  EXPECT_EQ(Motd(), "edited");
}

class PuttingLateToBeConfirmed : public PuttingLate {
 protected:
  PuttingLateToBeConfirmed() : PuttingLate(EndsWith::kConfirmation) {}
};

TEST_F(PuttingLateToBeConfirmed, GoesBackEvenIfTheRejectionCannotBeRecorded) {
  WriteMotd("edited");
  FinalizeAndBoot();
  // A directory in place of the file makes the write fail, as a full disk would.
  fs::create_directories(machine_.top() / "var/lib/pintle/rejected.json/full");
  const Recovered recovered = ValueOf(Recover(machine_.host()));
  EXPECT_EQ(recovered.how, Recovery::kRebootNeededToUndo);
  machine_.Boot();
  fs::remove_all(machine_.top() / "var/lib/pintle/rejected.json");
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kUndone);
  ASSERT_TRUE(ValueOf(ReadRejected(machine_.host().root)));
}

TEST_F(PuttingLate, DoesNotTakeADefaultOfTheNewImageForAnEdit) {
  FinalizeAndBoot();
  fs::create_directories(machine_.top() / "usr/etc");
  std::ofstream(machine_.top() / "usr/etc/motd") << "the new OS's greeting";
  WriteMotd("the new OS's greeting");
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kRebootNeeded);
  EXPECT_EQ(Motd(), "ours");
  // Recovery may be cut short and repeated any number of times.
  ASSERT_TRUE(Succeeded(Recover(machine_.host())));
  EXPECT_EQ(Motd(), "ours");
}

}  // namespace
}  // namespace pintle::change
