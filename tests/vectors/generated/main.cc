// SPDX-License-Identifier: Apache-2.0

// Runs all cases of generated configs that a folder has, kind by kind.  It prints a line for each case that differs,
// and after each kind "KIND: N/M agree".  A folder without any case is an error.
//
// usage: generated-vectors DIRECTORY

#include <fmt/core.h>

#include <exception>
#include <filesystem>

#include "vectors/generated/kinds.h"

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
      const pintle::vectors::Tally tally = kind.run(kind.folder);
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
