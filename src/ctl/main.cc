// SPDX-License-Identifier: Apache-2.0

// The command line, `pintle`: finds the verb and hands the rest of the words to it.

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <span>
#include <string_view>

#include "base/version.h"

namespace {

using Words = std::span<const char* const>;

// The exit statuses that scripts may rely on.
constexpr int kFine = 0;
constexpr int kWrong = 1;

int Help(Words words);
int Version(Words words);

struct Verb {
  std::string_view name;
  std::string_view summary;
  int (*run)(Words words);
};

constexpr std::array kVerbs = {
    Verb{"help", "say what pintle can do", Help},
    Verb{"version", "say which version this is", Version},
};

int Help(Words /*words*/) {
  fmt::print("pintle: takes a node from one whole configuration to the next\n\nUsage: pintle VERB [WORD...]\n\n");
  for (const Verb& verb : kVerbs) fmt::print("  {:<10} {}\n", verb.name, verb.summary);
  return kFine;
}

int Version(Words /*words*/) {
  fmt::print("pintle {}\n", pintle::kVersion);
  return kFine;
}

const Verb* FindVerb(std::string_view name) {
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const Words words(argv, static_cast<std::size_t>(argc));
  if (words.size() < 2) {
    fmt::print(stderr, "pintle: say what to do; `pintle help` lists the verbs\n");
    return kWrong;
  }
  const Verb* verb = FindVerb(words[1]);
  if (verb == nullptr) {
    fmt::print(stderr, "pintle: \"{}\" is not a verb; `pintle help` lists them\n", words[1]);
    return kWrong;
  }
  return verb->run(words.subspan(2));
}
