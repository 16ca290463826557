// SPDX-License-Identifier: Apache-2.0
#include "change/finalize_failure.h"

#include "support/expect.h"

namespace pintle::change {
namespace {

TEST(FinalizeFailure, IsTheFirstMatchingLine) {
  EXPECT_EQ(FinalizeFailureIn({"Finalizing staged deployment", "error: no space", "error: another"}),
            "error: no space");
  EXPECT_EQ(FinalizeFailureIn({"pintle: finalize-staged: writing /etc/a: no space", "error: later"}),
            "pintle: finalize-staged: writing /etc/a: no space");
  EXPECT_EQ(FinalizeFailureIn({"no error: at all", "Copying /etc changes: 2 modified"}), "");
  EXPECT_EQ(FinalizeFailureIn({}), "");
}

TEST(FinalizeFailure, IsAddedToTheLastFindingOnTheOsOnly) {
  std::vector<Finding> findings = {
      {"/etc/a", "content mismatch", ""}, {"os", "another image", ""}, {"os", "arguments", ""}};
  AddCause("error: no space", findings);
  EXPECT_EQ(
      TextOf(findings, "rendered-worker-1"),
      "unexpected on-disk state validating against rendered-worker-1: content mismatch; another image; arguments; "
      "possible root cause: error: no space");
  AddCause("", findings);
  EXPECT_EQ(findings.back().text, "arguments; possible root cause: error: no space");
  std::vector<Finding> files = {{"/etc/a", "content mismatch", ""}};
  AddCause("error: no space", files);
  EXPECT_EQ(files.front().text, "content mismatch");
}

}  // namespace
}  // namespace pintle::change
