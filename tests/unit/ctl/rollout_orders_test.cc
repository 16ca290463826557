// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout_orders.h"

#include <string>

#include "pool/waved_rollout.h"
#include "support/expect.h"

namespace pintle::ctl {
namespace {

using testing::HasSubstr;

api::RolloutOrder OrderWithReason(const std::string& reason) {
  api::RolloutOrder order;
  order.target = "rendered-worker-1";
  order.reason = reason;
  return order;
}

TEST(TextOfOrder, HasTheLengthThatTheControllerReads) {
  EXPECT_LE(ValueOf(TextOfOrder(OrderWithReason(std::string(500, 'a')))).size(), pool::kLongestOrder);
}

// As JSON, each of these characters has six bytes.
TEST(TextOfOrder, RefusesAnOrderThatTheControllerWouldIgnore) {
  EXPECT_THAT(MessageOf(TextOfOrder(OrderWithReason(std::string(500, '\x01')))),
              HasSubstr("bytes as JSON, of which the controller reads at most 2048; write a shorter --reason"));
}

}  // namespace
}  // namespace pintle::ctl
