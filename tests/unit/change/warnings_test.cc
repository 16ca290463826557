// SPDX-License-Identifier: Apache-2.0
#include "change/warnings.h"

#include "support/configs.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using plan::TestConfig;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Warnings, NameConfigsThatNobodyFetches) {
  const TemporaryDirectory directory;
  const Root root = ValueOf(Root::Open(directory.path().string()));
  EXPECT_THAT(WarningsOf(root, TestConfig(), TestConfig()), IsEmpty());
  TestConfig merging;
  merging.ignition().ignition.config.merge.emplace_back().source = "https://h/more.ign";
  TestConfig replaced;
  replaced.ignition().ignition.config.replace.source = "https://h/other.ign";
  for (const TestConfig* config : {&merging, &replaced}) {
    EXPECT_THAT(WarningsOf(root, TestConfig(), *config),
                ElementsAre(HasSubstr("ignition.config of rendered-worker-1: nothing fetches other configs")));
    EXPECT_THAT(WarningsOf(root, *config, TestConfig()), IsEmpty());
  }
}

}  // namespace
}  // namespace pintle::change
