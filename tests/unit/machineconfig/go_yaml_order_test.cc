// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_yaml_order.h"

#include <string>
#include <vector>

#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

TEST(IsBefore, OrdersNumbersInKeysByValue) {
  const std::vector<std::string> ordered = {"",    "_",  "1",  "01", "2",   "10",   "A",  "B",  "a",
                                            "a_b", "a0", "a1", "a2", "a10", "a100", "aA", "ab", "b"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(IsBefore(ordered[i], ordered[j]), i < j) << ordered[i] << " " << ordered[j];
    }
  }
}

}  // namespace
}  // namespace pintle::machineconfig
