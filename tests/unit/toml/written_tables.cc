// SPDX-License-Identifier: Apache-2.0

// Writes many tables of TOML, each on a line as {"toml": ..., "expected": ...}, for an independent reader to check.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/toml_steps.h"
#include "json/parse.h"
#include "toml/writer.h"

namespace {

// Makes steps from characters that are hard to write.  A step is a zero byte or a letter that selects what is added.
std::string RandomSteps(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {std::string(1, '\0'),
                                                   std::string(1, '\0'),
                                                   std::string(1, '\0'),
                                                   "t",
                                                   "[",
                                                   "b",
                                                   "n",
                                                   "l",
                                                   "s",
                                                   ".",
                                                   "a",
                                                   "z",
                                                   "-",
                                                   "_",
                                                   "A",
                                                   "0",
                                                   " ",
                                                   "\"",
                                                   "\\",
                                                   "'",
                                                   "\n",
                                                   "\r",
                                                   "\t",
                                                   "\b",
                                                   "\f",
                                                   "\x01",
                                                   "\x1F",
                                                   "\x7F",
                                                   "#",
                                                   "=",
                                                   "]",
                                                   "\xC3\xA4",
                                                   "\xE2\x80\xA8",
                                                   "\xF0\x9F\x98\x80"};
  constexpr std::size_t kLength = 200;
  std::string steps;
  while (steps.size() < kLength) steps += kPieces[random() % kPieces.size()];
  return steps;
}

}  // namespace

int main() {
  constexpr int kTables = 1000;
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same tables in each run.
  for (int i = 0; i < kTables; ++i) {
    const std::string bytes = RandomSteps(random);
    pintle::toml_steps::Steps steps(bytes);
    pintle::toml::Table table;
    auto expected = pintle::json::Value::object();
    Fill(steps, table, expected, 0);
    const pintle::json::Value line = {{"toml", pintle::toml::Write(table)}, {"expected", expected}};
    std::puts(pintle::json::ToText(line).c_str());
  }
  return 0;
}
