// SPDX-License-Identifier: Apache-2.0

// Runs all cases of generated configs that a folder has, kind by kind.  It prints a line for each case that differs,
// and after each kind "KIND: N/M agree".  If the files that all cases of a kind share cannot be read, the kind has one
// case, which differs.  A folder without any case is an error.
//
// usage: generated-vectors DIRECTORY

#include <fmt/core.h>

#include <exception>
#include <filesystem>
#include <string>

#include "vectors/generated/kinds.h"

namespace {

using pintle::vectors::CaseKind;
using pintle::vectors::Tally;

Tally RunOrMiss(const CaseKind& kind) {
  try {
    return kind.run(kind.folder);
  } catch (const std::exception& e) {
    Tally tally{std::string(kind.folder)};
    tally.Add("(all cases)", e.what());
    return tally;
  }
}

}  // namespace

int main(int argc, char** argv) {
  using pintle::vectors::kKinds;
  if (argc != 2) {
    fmt::print(stderr, "usage: generated-vectors DIRECTORY\n");
    return 2;
  }
  try {
    // The operator ran in this folder, and its errors contain paths relative to it.
    std::filesystem::current_path(argv[1]);
    bool has_tried = false;
    bool has_missed = false;
    for (const auto& kind : kKinds) {
      if (!std::filesystem::is_directory(kind.folder)) continue;
      const Tally tally = RunOrMiss(kind);
      tally.PrintSum();
      has_tried = has_tried || tally.has_tried();
      has_missed = has_missed || tally.has_missed();
    }
    if (!has_tried) {
      fmt::print(stderr, "generated-vectors: {} has no cases; name the folder that has ctr/, kubelet/ and so on\n",
                 argv[1]);
      return 2;
    }
    return has_missed ? 1 : 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "generated-vectors: {}\n", e.what());
    return 2;
  }
}
