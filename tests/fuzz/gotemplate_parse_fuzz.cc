// SPDX-License-Identifier: Apache-2.0

// Any bytes are parsed as a template, or lead to an error with a place.  A parsed template can be printed as source.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gotemplate/function.h"
#include "gotemplate/nodes.h"
#include "gotemplate/template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pintle::gotemplate::Template;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed =
      Template::Parse("t", text, [](std::string_view name) { return pintle::gotemplate::Builtins().contains(name); });
  if (!parsed) {
    if (!parsed.error().message().starts_with("template: t:")) std::abort();
    return 0;
  }
  const auto* root = parsed->Find("t");
  if (root == nullptr) std::abort();
  for (const auto* node : root->nodes) {
    if (parsed->PlaceOf(*node).empty()) std::abort();
    pintle::gotemplate::SourceOf(*node);
  }
  return 0;
}
