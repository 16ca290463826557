// SPDX-License-Identifier: Apache-2.0
#include "change/inverse.h"

#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using resource::Enablement;
using resource::Put;
using resource::UnitState;

class InverseOfUnitState : public testing::Test {
 protected:
  bool IsStepNeededFor(Enablement enablement) {
    const Put<UnitState> put = {"shipped.service", {{enablement}}};
    return ValueOf(InverseOf(machine_.host(), put, {})).has_value();
  }

  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
};

TEST_F(InverseOfUnitState, IsNothingIfTheUnitIsAsWanted) {
  EXPECT_FALSE(IsStepNeededFor(Enablement::kDisabled));
  EXPECT_TRUE(IsStepNeededFor(Enablement::kEnabled));
}

TEST_F(InverseOfUnitState, AUnitThatIsEnabledUntilTheNextBootIsNeitherEnabledNorDisabled) {
  machine_.systemd.enabled_at_runtime = "shipped.service";
  EXPECT_TRUE(IsStepNeededFor(Enablement::kDisabled));
  EXPECT_TRUE(IsStepNeededFor(Enablement::kEnabled));
}

}  // namespace
}  // namespace pintle::change
