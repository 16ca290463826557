// SPDX-License-Identifier: Apache-2.0
#include "ignition/unit_file.h"

#include <string>

#include "support/expect.h"

namespace pintle::ignition {
namespace {

TEST(UnitFile, IsReadWithCommentsAndContinuedLines) {
  const auto unit = ReadUnit("# c\n; d\n[Service]\nExecStart=/bin/sh \\\n  -c x\n\n[Install]\nWantedBy=a.target\n");

  ASSERT_TRUE(Succeeded(unit));
  EXPECT_TRUE(unit->has_install_section);
}

TEST(UnitFile, MayBeEmptyOrHaveNoSection) {
  EXPECT_TRUE(ReadUnit(""));
  EXPECT_TRUE(ReadUnit("garbage before the first section does not matter"));
}

TEST(UnitFile, ReportsErrorsInIgnitionsWords) {
  EXPECT_EQ(MessageOf(ReadUnit("[Unit")), "invalid unit content: unable to find end of section");
  EXPECT_EQ(MessageOf(ReadUnit("[Unit] x\n")), "invalid unit content: found garbage after section name");
  EXPECT_EQ(MessageOf(ReadUnit("[S]\nno equals\n")),
            "invalid unit content: unexpected newline encountered while parsing option name");
  EXPECT_EQ(MessageOf(ReadUnit("[S]\nno equals")), "invalid unit content: EOF");
  EXPECT_EQ(MessageOf(ReadUnit("[S]\nA=" + std::string(3000, 'y') + "\n")),
            "invalid unit content: line too long (max 2048 bytes)");
}

TEST(UnitFile, AcceptsALineOfTheGreatestLengthThatSystemdReads) {
  EXPECT_TRUE(ReadUnit("[S]\nA=" + std::string(2040, 'y') + "\nB=1\n"));
}

}  // namespace
}  // namespace pintle::ignition
