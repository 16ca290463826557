// SPDX-License-Identifier: Apache-2.0
#include "agent/local_windows.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LocalWindowsTest : public testing::Test {
 protected:
  Result<LocalWindows> Read(const std::string& spec) {
    std::ofstream(file_) << "apiVersion: pintle.io/v1alpha1\nkind: RolloutPolicy\nspec: " << spec << "\n";
    return ReadLocalWindows(file_);
  }

  static std::string WhyClosed(const LocalWindows& windows, const char* time) {
    return windows.WhyClosed(*FromRfc3339(time));
  }

  const TemporaryDirectory directory_;
  const std::string file_ = directory_ / "rollout.yaml";
};

TEST_F(LocalWindowsTest, AMachineWithoutTheFileMayBeChangedAtAnyTime) {
  EXPECT_EQ(WhyClosed(ValueOf(ReadLocalWindows(file_)), "2027-01-01T00:00:00Z"), "");
}

TEST_F(LocalWindowsTest, AMachineMayBeChangedInItsWindows) {
  const LocalWindows windows = ValueOf(Read(R"({windows: [{days: [Sun], start: "01:00", duration: 3h}]})"));
  EXPECT_EQ(WhyClosed(windows, "2027-01-02T12:00:00Z"), "the next window begins at 2027-01-03T01:00:00Z");
  EXPECT_EQ(WhyClosed(windows, "2027-01-03T01:00:00Z"), "");
  EXPECT_EQ(WhyClosed(windows, "2027-01-03T04:00:00Z"), "the next window begins at 2027-01-10T01:00:00Z");
}

TEST_F(LocalWindowsTest, AFreezeHoldsWithItsReason) {
  const LocalWindows windows = ValueOf(Read(R"({freeze: {until: "2027-01-07", reason: holidays}})"));
  EXPECT_EQ(WhyClosed(windows, "2027-01-06T23:59:59Z"),
            "the freeze (holidays) is not over, and the next window begins at 2027-01-07T00:00:00Z");
  EXPECT_EQ(WhyClosed(windows, "2027-01-07T00:00:00Z"), "");
}

TEST_F(LocalWindowsTest, FieldsThatNeedAClusterAndUnknownOnesAreRefusedTogether) {
  EXPECT_THAT(MessageOf(Read(R"({pool: worker, windos: [], windows: [{start: "1:00", duration: 1h, day: Sun}]})")),
              AllOf(HasSubstr("spec.pool has no effect on a machine without a cluster; remove it"),
                    HasSubstr("spec.windos is not known on a machine without a cluster; remove it"),
                    HasSubstr("spec.windows[0].day is not known; remove it"),
                    HasSubstr("spec.windows[0].start: \"1:00\" is not a time of the day")));
}

TEST_F(LocalWindowsTest, AnUnknownFieldIsReportedAlsoIfAValueHasTheWrongType) {
  EXPECT_THAT(MessageOf(Read(R"({windos: [], freeze: {until: 7}})")),
              AllOf(HasSubstr("spec.windos is not known on a machine without a cluster; remove it"),
                    HasSubstr("spec.freeze.until")));
}

TEST_F(LocalWindowsTest, AFileThatOthersMayWriteIsRefused) {
  static_cast<void>(Read("{windows: []}"));
  ASSERT_EQ(::chmod(file_.c_str(), 0666), 0);
  EXPECT_THAT(MessageOf(ReadLocalWindows(file_)), HasSubstr("rollout.yaml"));
}

TEST_F(LocalWindowsTest, AnotherKindAndAnEmptyFileAreRefused) {
  std::ofstream(file_) << "kind: MachineConfigPool\nspec: {}\n";
  EXPECT_THAT(MessageOf(ReadLocalWindows(file_)), HasSubstr("RolloutPolicy"));
  std::ofstream(file_, std::ios::trunc) << "";
  EXPECT_THAT(MessageOf(ReadLocalWindows(file_)), HasSubstr("the file has 0 documents, but must have exactly one"));
}

}  // namespace
}  // namespace pintle::agent
