// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the source of a template into trees.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "gotemplate/lexer.h"
#include "gotemplate/template.h"

namespace pintle::gotemplate {

// The state that all trees of one source share.
class TemplateParser {
 public:
  // The limit of levels of parentheses and of nested actions.  It exists because trees are walked by recursion.
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

  // Stores the tree of a template.  If there is a tree of this name already, the tree that is not empty stays.  Returns
  // false if neither is empty.
  bool Add(std::string_view name, const ListNode* tree);

  // Enters a level of parentheses or actions.  Returns false if there are too many.
  bool Enter() { return ++depth_ <= kDeepest; }
  void Leave() { --depth_; }

 private:
  Template& to_;
  const Template::HasFunction& has_function_;
  Lexer lexer_;
  std::size_t depth_ = 0;
};

}  // namespace pintle::gotemplate
