// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "base/result.h"
#include "base/utf8.h"
#include "support/temporary_directory.h"

namespace pintle {
namespace {

using std::string_literals::operator""s;

// Returns the word after bash has parsed it.
std::string InBash(const std::string& word) {
  TemporaryDirectory directory;
  directory.Write("script", "printf %s " + word + "\n");
  const std::string command = "bash " + (directory.path() / "script").string();
  std::string output;
  FILE* shell = ::popen(command.c_str(), "r");
  if (shell == nullptr) return "no shell";
  std::array<char, 256> piece;
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), shell)) output.append(piece.data(), count);
  ::pclose(shell);
  return output;
}

const std::array kNames = {
    "/etc/a b"s,
    "/etc/a\nb"s,
    "/etc/\x1b[2Jb"s,
    "/etc/it's"s,
    "/etc/\"q\""s,
    "/etc/$(touch x)"s,
    "/etc/`id`"s,
    "/etc/a;b&c"s,
    "-.mount"s,
    "/etc/\xff\xfe.b"s,
    "/etc/\xc2\x9b"
    "31m"s,
    "/etc/*?[a]"s,
    "/etc/\\n"s,
    "~root"s,
    ""s,
    "/etc/ä"s,
    "/etc/\xe2\x80\xae.x"s,
    "/etc/\x01"
    "23"s,
};

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(Printable("a \"b\" 'c'\td \\n ä € 日本"), "a \"b\" 'c'\td \\n ä € 日本");
}

TEST(Printable, EscapesTerminalSequences) {
  EXPECT_EQ(Printable("a\nb\x1b[2Jc\r\x7f"), "a\\x0Ab\\x1B[2Jc\\x0D\\x7F");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xC2\\x9B31m");
  EXPECT_EQ(Printable("a\xff\xc3"), "a\\xFF\\xC3");
  EXPECT_EQ(Printable("a\xe2\x80\xae.b"), "a\\xE2\\x80\\xAE.b");
  EXPECT_EQ(Printable("a\0b"s), "a\\x00b");
}

TEST(PrintableLines, KeepsTheBreaksOnly) { EXPECT_EQ(PrintableLines("a\nb\rc\n"), "a\nb\\x0Dc\n"); }

TEST(ShellQuoted, LeavesPlainWordsAsTheyAre) {
  EXPECT_EQ(ShellQuoted("/etc/chrony.conf"), "/etc/chrony.conf");
  EXPECT_EQ(ShellQuoted("getty@tty1.service"), "getty@tty1.service");
}

TEST(ShellQuoted, QuotesForReading) {
  EXPECT_EQ(ShellQuoted("/etc/a b"), "'/etc/a b'");
  EXPECT_EQ(ShellQuoted("/etc/$(touch x)"), "'/etc/$(touch x)'");
  EXPECT_EQ(ShellQuoted("/etc/it's"), "'/etc/it'\\''s'");
  EXPECT_EQ(ShellQuoted("/etc/it's\n"), "$'/etc/it\\047s\\012'");
  EXPECT_EQ(ShellQuoted("/etc/a\nb"), "$'/etc/a\\012b'");
  EXPECT_EQ(ShellQuoted(""), "''");
}

TEST(ShellQuoted, IsReadByAShellAsTheWordItWas) {
  for (const std::string& name : kNames) EXPECT_EQ(InBash(ShellQuoted(name)), name) << ShellQuoted(name);
}

TEST(ShellQuoted, HasOnlyPrintableCharacters) {
  for (const std::string& name : kNames) EXPECT_EQ(Printable(ShellQuoted(name)), ShellQuoted(name));
}

TEST(ShellOperand, CannotBeTakenForAnOption) {
  EXPECT_EQ(ShellOperand("-.mount"), "-- -.mount");
  EXPECT_EQ(ShellOperand("/etc/a b"), "'/etc/a b'");
}

TEST(Shortened, LeavesShortTextsAlone) { EXPECT_EQ(Shortened("abc", 3), "abc"); }

TEST(Shortened, CutsBetweenCharactersAndCountsTheOmittedOnes) {
  EXPECT_EQ(Shortened("abcdef", 3), "abc... (3 more characters)");
  EXPECT_EQ(Shortened("ab€€", 3), "ab... (2 more characters)");
  EXPECT_EQ(Shortened("ab€€", 5), "ab€... (1 more characters)");
  for (std::size_t most = 0; most < 12; ++most) EXPECT_TRUE(IsUtf8(Shortened("ab€ä😀x", most))) << most;
}

TEST(Shortened, IsAlwaysValidUtf8) { EXPECT_TRUE(IsUtf8(Shortened("a\xff\xff\xff", 2))); }

TEST(WithoutUrlPasswords, HidesThePasswordsOnly) {
  EXPECT_EQ(WithoutUrlPasswords("proxy http://me:hunter2@proxy:3128/ and https://host:443/x@y", "***"),
            "proxy http://me:***@proxy:3128/ and https://host:443/x@y");
}

TEST(WithoutUrlPasswords, HidesATokenThatIsGivenAsAUserName) {
  EXPECT_EQ(
      WithoutUrlPasswords("at https://ghp_1@host/x, HTTP://ghp_1:@host and 'https://ghp_1:x-oauth-basic@host'", "***"),
      "at https://***@host/x, HTTP://***@host and 'https://***@host'");
  for (const char* harmless :
       {"ssh://git@host/x", "docker://busybox@sha256", "https://host?from=a@b", "https://@host"}) {
    EXPECT_EQ(WithoutUrlPasswords(harmless, "***"), harmless);
  }
}

// An error names the work that failed, and the name of a file may be part of it.
TEST(Error, StaysOnOneLineWithAnyName) {
  const Error error = Error::FromErrno("rename /a\nb", 2).While("writing /etc/\x1b[2J\npintle: all is well");
  EXPECT_EQ(error.message(),
            "writing /etc/\\x1B[2J\\x0Apintle: all is well: rename /a\\x0Ab: No such file or directory");
}

}  // namespace
}  // namespace pintle
