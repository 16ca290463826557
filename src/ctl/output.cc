// SPDX-License-Identifier: Apache-2.0
#include "ctl/output.h"

#include <cstdio>
#include <string>

#include "base/printable.h"

namespace pintle::ctl {

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// Messages may contain names from configs and disks, which anyone may have written, so control characters are escaped.
void PrintToStderr(std::string_view text) {
  const std::string shown = PrintableLines(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

}  // namespace pintle::ctl
