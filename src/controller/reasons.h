// SPDX-License-Identifier: Apache-2.0
#pragma once

// A text with several reasons, such as those why objects cannot be read.

#include <string>
#include <string_view>

namespace pintle::controller {

// Adds a reason behind a semicolon.  An empty text is no reason.
inline void AddReason(std::string_view why, std::string& reasons) {
  if (why.empty()) return;
  if (!reasons.empty()) reasons += "; ";
  reasons += why;
}

}  // namespace pintle::controller
