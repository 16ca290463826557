// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rendered configs that nobody needs any more.
//
// A cluster renders hundreds of them in its life, each as large as all that it was rendered from.  One is needed as
// long as a node has it, is to have it or booted with it first, a pool has it as its target or as what all its nodes
// reached and may go back to, or an image is being built from it.  The newest others of each pool are kept as well, for
// people who look back.

#include <cstddef>
#include <string>
#include <vector>

#include "controller/view.h"

namespace pintle::controller {

struct Garbage {
  std::string name;
  std::string uid;
};

std::vector<Garbage> FindGarbage(const View& view, std::size_t kept_for_each_pool);

}  // namespace pintle::controller
