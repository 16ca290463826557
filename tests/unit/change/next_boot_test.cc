// SPDX-License-Identifier: Apache-2.0

#include "change/next_boot.h"

#include <sys/xattr.h>

#include <array>
#include <string>

#include "change/apply.h"
#include "change/journal.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/two_deployments.h"

namespace pintle::change {
namespace {

using plan::TestConfig;
using testing::HasSubstr;

// A change that waits for the next boot, on a machine that is shutting down.
class DroppingUnfinalized : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseOwnMounts(); }

  DroppingUnfinalized() {
    const TestConfig from = NoConfig();
    const TestConfig to = Everything();
    EXPECT_EQ(ValueOf(Apply(machine_.host(), from, to, plan::Make(from, to, {}, {}))), Ending::kRebootNeeded);
  }

  std::optional<host::DeployedImage> Pending() { return ValueOf(machine_.deployments.Observe()).pending; }

  TemporaryDirectory directory_;
  BootableMachine machine_{directory_.path()};
};

TEST_F(DroppingUnfinalized, KeepsTheMachineOnTheOldDeploymentAndUndoesTheChange) {
  const Result<> dropped = DropUnfinalized(machine_.host());
  ASSERT_FALSE(dropped);
  EXPECT_THAT(dropped.error().message(), HasSubstr("`journalctl --unit=pintle-finalize-staged.service`"));
  EXPECT_FALSE(Pending());
  EXPECT_TRUE(Succeeded(DropUnfinalized(machine_.host())));
  machine_.Boot();
  const Recovered recovered = ValueOf(Recover(machine_.host()));
  EXPECT_EQ(recovered.how, Recovery::kUndone);
  EXPECT_EQ(recovered.reason, dropped.error().message());
}

TEST_F(DroppingUnfinalized, LeavesAFinalizedDeploymentAlone) {
  ASSERT_TRUE(Succeeded(Finalize(machine_.host())));
  EXPECT_TRUE(Succeeded(DropUnfinalized(machine_.host())));
  EXPECT_EQ(machine_.deployments.ToBoot(), "new");
}

TEST_F(DroppingUnfinalized, LeavesTheDeploymentAloneThatSomeoneElseHasStaged) {
  ASSERT_TRUE(Succeeded(machine_.deployments.StageAnother()));
  EXPECT_TRUE(Succeeded(DropUnfinalized(machine_.host())));
  ASSERT_TRUE(Pending());
  EXPECT_EQ(Pending()->id, "other");
}

TEST_F(DroppingUnfinalized, LeavesAChangeThatWasCutShortToTheRecovery) {
  const Journal journal(machine_.host().root);
  Change change = *ValueOf(journal.Read());
  change.phase = Phase::kApplying;
  ASSERT_TRUE(Succeeded(journal.Write(change)));
  EXPECT_TRUE(Succeeded(DropUnfinalized(machine_.host())));
  EXPECT_FALSE(Pending());
  EXPECT_EQ(ValueOf(Recover(machine_.host())).how, Recovery::kUndone);
}

#ifdef PINTLE_HAS_SELINUX
// The running SELinux policy has one label for everything.  A test can give the next deployment another policy.
class LabellingNextDeployment : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseOwnMounts(); }

  LabellingNextDeployment() { machine_.Write("running", "/.*  system_u:object_r:running_t:s0\n"); }

  host::Host host() {
    host::Host host = machine_.host();
    host.labels = host::Labels::FromFile((machine_.top() / "running").string());
    return host;
  }
  // Returns the label that the file has after the boot.
  std::string LabelAfterBoot(const std::string& path) {
    const TestConfig from = NoConfig();
    const TestConfig to = Everything();
    EXPECT_EQ(ValueOf(Apply(host(), from, to, plan::Make(from, to, {}, {}))), Ending::kRebootNeeded);
    EXPECT_TRUE(Succeeded(Finalize(host())));
    machine_.Boot();
    std::array<char, 100> label = {};
    ::getxattr((machine_.top() / path).c_str(), "security.selinux", label.data(), label.size() - 1);
    return label.data();
  }

  TemporaryDirectory directory_;
  BootableMachine machine_{directory_.path()};
};

TEST_F(LabellingNextDeployment, UsesThePolicyOfTheNextDeployment) {
  machine_.Write("etc/selinux/config", "# A comment\nSELINUX=enforcing\nSELINUXTYPE=default \n");
  machine_.Write("etc/selinux/default/contexts/files/file_contexts", "/.*  system_u:object_r:next_t:s0\n");
  machine_.Write("etc/selinux/default/contexts/files/file_contexts.local",
                 "/etc/new/deep/file  system_u:object_r:local_t:s0\n");
  EXPECT_EQ(LabelAfterBoot("etc/new/deep/file"), "system_u:object_r:local_t:s0");
}

TEST_F(LabellingNextDeployment, UsesTheRunningPolicyIfTheNextDeploymentHasNone) {
  EXPECT_EQ(LabelAfterBoot("etc/new/deep/file"), "system_u:object_r:running_t:s0");
}
#endif

}  // namespace
}  // namespace pintle::change
