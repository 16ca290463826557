// SPDX-License-Identifier: Apache-2.0
#include "ctl/carry_out.h"

#include "support/expect.h"

namespace pintle::ctl {
namespace {

TEST(OutcomeText, NamesTheTreeInItsRemedy) {
  EXPECT_EQ(
      OutcomeText(outcome::kRebootPending, "all is well", " --root /mnt"),
      "A reboot is pending: after that, all is well.  `pintle recover --root /mnt --give-up` undoes the change.\n");
  EXPECT_EQ(OutcomeText(outcome::kRebootPending, "all is well", ""),
            "A reboot is pending: after that, all is well.  `pintle recover --give-up` undoes the change.\n");
}

TEST(OutcomeText, EscapesControlCharacters) {
  EXPECT_EQ(OutcomeText(outcome::kDone, "it is as a\x1b[2J wants it", ""), "Done: it is as a\\x1B[2J wants it.\n");
}

}  // namespace
}  // namespace pintle::ctl
