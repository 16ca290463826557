// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/template.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "gotemplate/parser.h"

namespace pintle::gotemplate {

Result<Template> Template::Parse(std::string name, std::string text, const HasFunction& has_function) {
  Template parsed;
  parsed.source_ = std::make_unique<const Source>(Source{std::move(name), std::move(text)});
  TRY(TemplateParser(parsed, has_function).Parse());
  return parsed;
}

const ListNode* Template::Find(std::string_view name) const {
  const auto tree = trees_.find(name);
  return tree == trees_.end() ? nullptr : tree->second;
}

std::string Template::PlaceOf(const Node& node) const {
  const std::string_view before = std::string_view(source_->text).substr(0, node.position);
  // If there is no line break, npos + 1 is the start of the text.
  const std::size_t line_start = before.rfind('\n') + 1;
  return fmt::format("{}:{}:{}", source_->name, 1 + std::count(before.begin(), before.end(), '\n'),
                     before.size() - line_start);
}

}  // namespace pintle::gotemplate
