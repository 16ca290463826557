// SPDX-License-Identifier: Apache-2.0
#include "vectors/generated/tally.h"

#include <fmt/core.h>

#include "base/printable.h"

namespace pintle::vectors {

void Tally::Add(std::string_view name, std::string_view difference) {
  ++tried_;
  if (difference.empty()) {
    ++agreed_;
    return;
  }
  ++misses_;
  fmt::print("{}/{}: {}\n", kind_, name, Printable(difference));
}

void Tally::AddDeliberate(std::string_view name, std::string_view reason, std::string_view difference) {
  ++tried_;
  if (!difference.empty()) ++misses_;
  fmt::print("{}/{}: a deliberate difference: {}{}{}\n", kind_, name, reason,
             difference.empty() ? "" : "; but our result is not the one that we want: ", Printable(difference));
}

void Tally::Skip(std::string_view name) const {
  fmt::print("{}/{}: the case has no answer of the operator, so nothing is compared\n", kind_, name);
}

void Tally::PrintSum() const { fmt::print("{}: {}/{} agree\n", kind_, agreed_, tried_); }

}  // namespace pintle::vectors
