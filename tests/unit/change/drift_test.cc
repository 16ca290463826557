// SPDX-License-Identifier: Apache-2.0
#include "change/drift.h"

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(VerifyReport, HasRemediesForAUnitWhoseNameBeginsWithADash) {
  const TemporaryDirectory directory;
  const Root root = ValueOf(Root::Open(directory.path().string()));
  const VerifyReport report = ValueOf(VerifyReportOf(root, EmptyCurrentConfig(), {{"-.mount", "differs", ""}}));
  ASSERT_THAT(report.things, SizeIs(1));
  EXPECT_THAT(report.things[0].remedies,
              ElementsAre("pintle restore -- -.mount", "pintle ignore --until 1d -- -.mount"));
}

}  // namespace
}  // namespace pintle::change
