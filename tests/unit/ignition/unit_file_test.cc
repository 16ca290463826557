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

// Returns a unit with a line from byte 6143 to byte 8195, after a character of four bytes that begins at byte `at`.
// Ignition checks the length of the line only if its buffer already has 2048 bytes of the line.
std::string UnitWithLongLineAfter(std::string_view character, std::size_t at) {
  std::string text;
  while (text.size() + 2 <= at) text += "x\n";
  text.append(at - text.size(), 'x');
  text += character;
  text += "\n[S]\n#";
  text.append(6142 - text.size(), 'c');
  return text + "\nA=" + std::string(2050, 'y') + "\nB=1\n";
}

// Ignition's buffer ends within the character, so the buffer is filled again from the beginning of the character.
TEST(UnitFile, FillsTheBufferWhenItLacksAPartOfACharacter) {
  EXPECT_TRUE(ReadUnit(UnitWithLongLineAfter("\xF0\x9F\x98\x80", 4094)));
  EXPECT_EQ(MessageOf(ReadUnit(UnitWithLongLineAfter("\xF0\x9F\x98\x80", 4092))),
            "invalid unit content: line too long (max 2048 bytes)");
  // Here, the buffer ends within what could be a character, or after bytes that are none.
  EXPECT_TRUE(ReadUnit(UnitWithLongLineAfter("\xF0\x9Fx", 4094)));
  EXPECT_EQ(MessageOf(ReadUnit(UnitWithLongLineAfter("\xF0\x80x", 4094))),
            "invalid unit content: line too long (max 2048 bytes)");
}

TEST(UnitFile, TreatsAnOverlongEncodingAsInvalid) {
  EXPECT_EQ(MessageOf(ReadUnit("[S]\xE0\x80\xA0\n")), "invalid unit content: found garbage after section name");
  // U+005B would begin a section.
  EXPECT_TRUE(ReadUnit("\xE0\x81\x9BS\n"));
}

}  // namespace
}  // namespace pintle::ignition
