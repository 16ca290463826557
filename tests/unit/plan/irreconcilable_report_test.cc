// SPDX-License-Identifier: Apache-2.0
#include "plan/irreconcilable_report.h"

#include "support/expect.h"

namespace pintle::plan {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

ignition::Config WithDisks(const std::vector<std::string>& devices) {
  ignition::Config config;
  for (const std::string& device : devices) config.storage.disks.emplace_back().device = device;
  return config;
}

TEST(IrreconcilableChanges, IsEmptyForTheSameDisks) {
  EXPECT_THAT(IrreconcilableChanges(WithDisks({"/dev/a"}), WithDisks({"/dev/a"})), IsEmpty());
}

TEST(IrreconcilableChanges, NamesTheFieldThatChanges) {
  const auto changes = IrreconcilableChanges(WithDisks({"/dev/a"}), WithDisks({"/dev/b"}));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].field_path, "spec.config.storage.disks[0].device");
  EXPECT_EQ(changes[0].diff, "- \"/dev/a\"\n+ \"/dev/b\"\n");
}

TEST(IrreconcilableChanges, ShowsAnAddedElementWithItsNeighbours) {
  const auto changes = IrreconcilableChanges(WithDisks({"/dev/a"}), WithDisks({"/dev/a", "/dev/b"}));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].field_path, "spec.config.storage.disks[1]");
  EXPECT_EQ(changes[0].diff, "  {\"device\":\"/dev/a\"}\n+ {\"device\":\"/dev/b\"}\n]\n");
}

TEST(IrreconcilableChanges, KeepsTheFirstOfTwoElementsThatChangePlaces) {
  const auto changes = IrreconcilableChanges(WithDisks({"/dev/a", "/dev/b"}), WithDisks({"/dev/b", "/dev/a"}));
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].field_path, "spec.config.storage.disks[0]");
  EXPECT_EQ(changes[0].diff, "[\n+ {\"device\":\"/dev/b\"}\n  {\"device\":\"/dev/a\"}\n");
  EXPECT_EQ(changes[1].field_path, "spec.config.storage.disks[2]");
  EXPECT_EQ(changes[1].diff, "  {\"device\":\"/dev/a\"}\n- {\"device\":\"/dev/b\"}\n]\n");
}

TEST(IrreconcilableChanges, EscapesTextsAsGoDoes) {
  const auto changes = IrreconcilableChanges(WithDisks({"/dev/a"}), WithDisks({"/dev/<&>"}));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].diff, "- \"/dev/a\"\n+ \"/dev/\\u003c\\u0026\\u003e\"\n");
}

TEST(IrreconcilableChanges, ShowsARemovedSectionCompletely) {
  const auto changes = IrreconcilableChanges(WithDisks({"/dev/a"}), WithDisks({}));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].field_path, "spec.config.storage.disks");
  EXPECT_EQ(changes[0].diff, "- [{\"device\":\"/dev/a\"}]\n");
}

}  // namespace
}  // namespace pintle::plan
