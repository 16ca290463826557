// SPDX-License-Identifier: Apache-2.0
#pragma once

// A parsed template of Go's text/template: its main tree, and the trees of the templates that it defines.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gotemplate/nodes.h"

namespace pintle::gotemplate {

class Template {
 public:
  // Returns whether there is a function of this name.
  using HasFunction = std::function<bool(std::string_view name)>;

  // Errors have the words of Go: "template: NAME:LINE: unclosed action".
  static Result<Template> Parse(std::string name, std::string text, const HasFunction& has_function);

  const std::string& name() const { return source_->name; }
  // Returns the main tree for name(), or the tree of a template that this template defines; nullptr if there is none.
  const ListNode* Find(std::string_view name) const;

  // Returns "NAME:LINE:COLUMN" of a node.
  std::string PlaceOf(const Node& node) const;

 private:
  friend class TemplateParser;

  // Nodes refer to the text, so it must not move.
  struct Source {
    std::string name;
    std::string text;
  };

  std::unique_ptr<const Source> source_;
  std::vector<std::unique_ptr<const Node>> nodes_;
  std::map<std::string, const ListNode*, std::less<>> trees_;
};

}  // namespace pintle::gotemplate
