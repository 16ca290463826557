// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of cases.

#include <array>
#include <filesystem>
#include <string_view>

#include "vectors/generated/tally.h"

namespace pintle::vectors {

// Runs all cases in `folder`, the folder of a kind.  Files that several kinds use are beside it.
using RunKind = Tally (*)(const std::filesystem::path& folder);

struct CaseKind {
  std::string_view folder;
  RunKind run;
};

Tally RunBootstrap(const std::filesystem::path& folder);
Tally RunCtr(const std::filesystem::path& folder);
Tally RunGotemplate(const std::filesystem::path& folder);
Tally RunImage(const std::filesystem::path& folder);
Tally RunKubelet(const std::filesystem::path& folder);
Tally RunTemplate(const std::filesystem::path& folder);
Tally RunTemplateFunctions(const std::filesystem::path& folder);
Tally RunTemplateSpecial(const std::filesystem::path& folder);

inline constexpr auto kKinds = std::to_array<CaseKind>({
    {"bootstrap", RunBootstrap},
    {"ctr", RunCtr},
    {"gotemplate", RunGotemplate},
    {"image", RunImage},
    {"kubelet", RunKubelet},
    {"template", RunTemplate},
    {"template-functions", RunTemplateFunctions},
    {"template-special", RunTemplateSpecial},
});

}  // namespace pintle::vectors
