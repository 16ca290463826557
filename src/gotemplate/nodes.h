// SPDX-License-Identifier: Apache-2.0
#pragma once

// The nodes of a template's tree.  The Template owns all nodes, and nodes refer to each other by pointers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gotemplate/number.h"

namespace pintle::gotemplate {

enum class NodeType : std::uint8_t {
  kText,
  kAction,
  kBool,
  kChain,
  kCommand,
  kDot,
  kElse,  // Ends a list in the parser; it is not a part of a tree.
  kEnd,   // Ends a list in the parser; it is not a part of a tree.
  kField,
  kIdentifier,
  kIf,
  kList,
  kNil,
  kNumber,
  kPipe,
  kRange,
  kString,
  kTemplate,
  kVariable,
  kWith,
  kBreak,
  kContinue
};

// Returns whether a node is a constant or the dot.  No field can follow it, and it can only be the first command of a
// pipeline.
constexpr bool IsConstantOrDot(NodeType type) {
  return type == NodeType::kBool || type == NodeType::kDot || type == NodeType::kNil || type == NodeType::kNumber ||
         type == NodeType::kString;
}

struct Node {
  Node(NodeType node_type, std::size_t at) : type(node_type), position(at) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  const NodeType type;
  const std::size_t position;  // The position in the source.
};

struct ListNode : Node {
  explicit ListNode(std::size_t at) : Node(NodeType::kList, at) {}
  std::vector<const Node*> nodes;
};

struct TextNode : Node {
  TextNode(std::size_t at, std::string_view node_text) : Node(NodeType::kText, at), text(node_text) {}
  const std::string_view text;
};

// A chain of fields of the dot, such as .X.Y
struct FieldNode : Node {
  FieldNode(std::size_t at, std::vector<std::string> fields) : Node(NodeType::kField, at), names(std::move(fields)) {}
  const std::vector<std::string> names;
};

// A variable and its fields, such as $x.Y; the first name is the name of the variable.
struct VariableNode : Node {
  VariableNode(std::size_t at, std::vector<std::string> variable_and_fields)
      : Node(NodeType::kVariable, at), names(std::move(variable_and_fields)) {}
  const std::vector<std::string> names;
};

// Fields of the value of another node, such as (...).X.Y
struct ChainNode : Node {
  ChainNode(std::size_t at, const Node* value_node) : Node(NodeType::kChain, at), node(value_node) {}
  const Node* const node;
  std::vector<std::string> names;
};

// The name of a function.
struct IdentifierNode : Node {
  IdentifierNode(std::size_t at, std::string_view function) : Node(NodeType::kIdentifier, at), name(function) {}
  const std::string name;
};

struct BoolNode : Node {
  BoolNode(std::size_t at, bool node_value) : Node(NodeType::kBool, at), value(node_value) {}
  const bool value;
};

struct NumberNode : Node {
  NumberNode(std::size_t at, std::string_view source, Number node_value)
      : Node(NodeType::kNumber, at), text(source), value(node_value) {}
  const std::string_view text;
  const Number value;
};

struct StringNode : Node {
  StringNode(std::size_t at, std::string_view source, std::string node_value)
      : Node(NodeType::kString, at), quoted(source), value(std::move(node_value)) {}
  const std::string_view quoted;
  const std::string value;
};

// A dot, nil, else, end, break or continue.
struct WordNode : Node {
  using Node::Node;
};

struct CommandNode : Node {
  explicit CommandNode(std::size_t at) : Node(NodeType::kCommand, at) {}
  std::vector<const Node*> arguments;  // The first element is the function or the value.
};

struct PipeNode : Node {
  explicit PipeNode(std::size_t at) : Node(NodeType::kPipe, at) {}
  std::vector<const VariableNode*> variables;  // The variables that the pipeline sets.
  bool is_assignment = false;
  std::vector<const CommandNode*> commands;
};

struct ActionNode : Node {
  ActionNode(std::size_t at, const PipeNode* node_pipe) : Node(NodeType::kAction, at), pipe(node_pipe) {}
  const PipeNode* const pipe;
};

// An `if`, `range` or `with`, with its parts up to {{end}}.
struct BranchNode : Node {
  BranchNode(NodeType node_type, std::size_t at) : Node(node_type, at) {}
  const PipeNode* pipe = nullptr;
  const ListNode* list = nullptr;
  const ListNode* else_list = nullptr;  // nullptr if there is no {{else}}.
};

struct TemplateNode : Node {
  TemplateNode(std::size_t at, std::string template_name, const PipeNode* data)
      : Node(NodeType::kTemplate, at), name(std::move(template_name)), pipe(data) {}
  const std::string name;
  const PipeNode* const pipe;  // The data of the template; nullptr if there is none.
};

// Returns the source of a node in the form that errors quote.
std::string SourceOf(const Node& node);

}  // namespace pintle::gotemplate
