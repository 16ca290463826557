// SPDX-License-Identifier: Apache-2.0
#include "ctl/output.h"

#include <cstdio>

namespace pintle::ctl {

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void Tell(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace pintle::ctl
