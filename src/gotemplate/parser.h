// SPDX-License-Identifier: Apache-2.0
#pragma once

// The source of a template to its trees.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "gotemplate/lexer.h"
#include "gotemplate/template.h"

namespace pintle::gotemplate {

// What all trees of one source have in common.
class TemplateParser {
 public:
  // Levels of parentheses and of actions inside one another.  Whoever walks a tree does so by recursion.
  static constexpr std::size_t kDeepest = 400;

  TemplateParser(Template& to, const Template::HasFunction& has_function);

  Result<> Parse();

  Lexer& lexer() { return lexer_; }
  const std::string& name() const { return to_.name(); }
  bool HasFunction(std::string_view name) const { return has_function_(name); }

  template <typename T, typename... Arguments>
  T* Make(Arguments&&... arguments) {
    auto node = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T* const made = node.get();
    to_.nodes_.push_back(std::move(node));
    return made;
  }

  // False: there is a template of this name already.  What is empty gives way to what is not.
  bool Add(std::string_view name, const List* tree);

  // Counts levels: false if there are too many of them.
  bool Enter() { return ++depth_ <= kDeepest; }
  void Leave() { --depth_; }

 private:
  Template& to_;
  const Template::HasFunction& has_function_;
  Lexer lexer_;
  std::size_t depth_ = 0;
};

}  // namespace pintle::gotemplate
