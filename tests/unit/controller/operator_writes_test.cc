// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_writes.h"

#include <gtest/gtest.h>

#include "unit/controller/manual_clock.h"

namespace pintle::controller {
namespace {

constexpr const char* kTask = "RenderConfig";
constexpr const char* kWriteOfConfig = "writing the ControllerConfig";

class OperatorWritesTest : public testing::Test {
 protected:
  ManualClock clock_;
  OperatorWrites writes_{clock_, OperatorWrites::Listener{.changed = [] {},
                                                          .retry_at = [](MonotonicTime) {},
                                                          .trouble = [](const std::string&, const Error&) {}}};
};

TEST_F(OperatorWritesTest, OtherContentsDoNotWaitForAnUnkeptPatch) {
  ASSERT_TRUE(writes_.MayStart(kWriteOfConfig, "1"));
  writes_.Ended(kTask, kWriteOfConfig, nullptr, PatchEffect::kDropped);
  EXPECT_FALSE(writes_.MayStart(kWriteOfConfig, "1"));
  ASSERT_TRUE(writes_.MayStart(kWriteOfConfig, "2"));
  writes_.Ended(kTask, kWriteOfConfig, nullptr, PatchEffect::kDropped);
  EXPECT_FALSE(writes_.MayStart(kWriteOfConfig, "2"));
}

TEST_F(OperatorWritesTest, OtherContentsWaitAfterAFailure) {
  ASSERT_TRUE(writes_.MayStart(kWriteOfConfig, "1"));
  const Error refused(ErrorKind::kInvalid, "access is forbidden");
  writes_.Ended(kTask, kWriteOfConfig, &refused);
  EXPECT_FALSE(writes_.MayStart(kWriteOfConfig, "2"));
}

TEST_F(OperatorWritesTest, APatchThatIsNoLongerWantedIsForgotten) {
  ASSERT_TRUE(writes_.MayStart(kWriteOfConfig, "1"));
  writes_.Ended(kTask, kWriteOfConfig, nullptr, PatchEffect::kDropped);
  writes_.BeginLook();
  writes_.EndLook();
  writes_.BeginLook();
  EXPECT_TRUE(writes_.MayStart(kWriteOfConfig, "1"));
}

}  // namespace
}  // namespace pintle::controller
