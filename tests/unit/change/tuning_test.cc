// SPDX-License-Identifier: Apache-2.0
#include "change/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::change {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFedora = "NAME=\"Fedora\"\nID=fedora\nVARIANT_ID=coreos\n";

TEST(ParseTuning, AcceptsOnlyAddAndDeleteLines) {
  const Tuning tuning = ParseTuning("ADD a=1\n  DELETE b \n# ADD c\nadd d\nADDe\n\nADD f=\"g h\"\r\nDELETE i", kFedora);
  EXPECT_THAT(tuning.add, ElementsAre("a=1", "f=\"g h\""));
  EXPECT_THAT(tuning.remove, ElementsAre("b", "i"));
  EXPECT_THAT(tuning.refused, IsEmpty());
}

TEST(ParseTuning, AllowsOnlyNosmtOnTheEnterpriseSystems) {
  for (const char* os :
       {"ID=rhcos", "ID=\"scos\"\n", "ID=\"rhel\"\nVARIANT_ID=\"coreos\"", "VARIANT_ID=coreos\nID=centos"}) {
    const Tuning tuning = ParseTuning("ADD nosmt\nADD nosmt=force\nDELETE nosmt\nDELETE quiet\n", os);
    EXPECT_THAT(tuning.add, ElementsAre("nosmt")) << os;
    EXPECT_THAT(tuning.remove, ElementsAre("nosmt")) << os;
    EXPECT_THAT(tuning.refused, ElementsAre("nosmt=force", "quiet")) << os;
  }
}

TEST(ParseTuning, AllowsNoArgumentOnOtherSystems) {
  for (const char* os : {"", "ID=debian\n", "ID=rhel", "ID=fedora\nVARIANT_ID=server\n", "XID=rhcos"}) {
    const Tuning tuning = ParseTuning("ADD nosmt\n", os);
    EXPECT_THAT(tuning.add, IsEmpty()) << os;
    EXPECT_THAT(tuning.refused, ElementsAre("nosmt")) << os;
  }
}

}  // namespace
}  // namespace pintle::change
