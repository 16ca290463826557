// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tree of a template.  The Template owns all nodes; they refer to each other.

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
  kElse,  // Never part of a tree.
  kEnd,   // Never part of a tree.
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

// Returns whether a chain or a pipeline may begin with this node.
constexpr bool IsConstant(NodeType type) {
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

struct List : Node {
  explicit List(std::size_t at) : Node(NodeType::kList, at) {}
  std::vector<const Node*> nodes;
};

struct Text : Node {
  Text(std::size_t at, std::string_view of) : Node(NodeType::kText, at), text(of) {}
  const std::string_view text;
};

// For example .X.Y
struct FieldNode : Node {
  FieldNode(std::size_t at, std::vector<std::string> all) : Node(NodeType::kField, at), names(std::move(all)) {}
  const std::vector<std::string> names;
};

// For example $x.Y; the first name is that of the variable.
struct VariableNode : Node {
  VariableNode(std::size_t at, std::vector<std::string> all) : Node(NodeType::kVariable, at), names(std::move(all)) {}
  const std::vector<std::string> names;
};

// For example (...).X.Y
struct ChainNode : Node {
  ChainNode(std::size_t at, const Node* of) : Node(NodeType::kChain, at), node(of) {}
  const Node* const node;
  std::vector<std::string> names;
};

// A function by its name.
struct IdentifierNode : Node {
  IdentifierNode(std::size_t at, std::string_view of) : Node(NodeType::kIdentifier, at), name(of) {}
  const std::string name;
};

struct BoolNode : Node {
  BoolNode(std::size_t at, bool is) : Node(NodeType::kBool, at), value(is) {}
  const bool value;
};

struct NumberNode : Node {
  NumberNode(std::size_t at, std::string_view source, Number is)
      : Node(NodeType::kNumber, at), text(source), value(is) {}
  const std::string_view text;
  const Number value;
};

struct StringNode : Node {
  StringNode(std::size_t at, std::string_view source, std::string is)
      : Node(NodeType::kString, at), quoted(source), value(std::move(is)) {}
  const std::string_view quoted;
  const std::string value;
};

// A dot, nil, else, end, break or continue.
struct WordNode : Node {
  using Node::Node;
};

struct CommandNode : Node {
  explicit CommandNode(std::size_t at) : Node(NodeType::kCommand, at) {}
  std::vector<const Node*> arguments;  // The first one is the function or value.
};

struct PipeNode : Node {
  explicit PipeNode(std::size_t at) : Node(NodeType::kPipe, at) {}
  std::vector<const VariableNode*> variables;  // The variables that it sets.
  bool is_assignment = false;
  std::vector<const CommandNode*> commands;
};

struct ActionNode : Node {
  ActionNode(std::size_t at, const PipeNode* of) : Node(NodeType::kAction, at), pipe(of) {}
  const PipeNode* const pipe;
};

// An action `if`, `range` or `with`.
struct BranchNode : Node {
  BranchNode(NodeType node_type, std::size_t at) : Node(node_type, at) {}
  const PipeNode* pipe = nullptr;
  const List* list = nullptr;
  const List* else_list = nullptr;  // nullptr if there is none.
};

struct TemplateNode : Node {
  TemplateNode(std::size_t at, std::string of, const PipeNode* with)
      : Node(NodeType::kTemplate, at), name(std::move(of)), pipe(with) {}
  const std::string name;
  const PipeNode* const pipe;  // nullptr if there is none.
};

// Returns the source of a node in the form that errors quote.
std::string SourceOf(const Node& node);

}  // namespace pintle::gotemplate
