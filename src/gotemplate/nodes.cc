// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/nodes.h"

#include "gotext/quote.h"

namespace pintle::gotemplate {
namespace {

// Writes the source of a node.  The recursion is limited because the parser limits the depth of trees.
class SourceWriter {
 public:
  void Write(const Node& node) {
    switch (node.type) {
      case NodeType::kText:
        text_ += static_cast<const TextNode&>(node).text;
        return;
      case NodeType::kAction:
        text_ += "{{";
        Write(*static_cast<const ActionNode&>(node).pipe);
        text_ += "}}";
        return;
      case NodeType::kBool:
        text_ += static_cast<const BoolNode&>(node).value ? "true" : "false";
        return;
      case NodeType::kChain:
        WriteArgument(*static_cast<const ChainNode&>(node).node);
        return WriteFields(static_cast<const ChainNode&>(node).names);
      case NodeType::kCommand:
        return WriteCommand(static_cast<const CommandNode&>(node));
      case NodeType::kDot:
        text_ += '.';
        return;
      case NodeType::kElse:
        text_ += "{{else}}";
        return;
      case NodeType::kEnd:
        text_ += "{{end}}";
        return;
      case NodeType::kField:
        return WriteFields(static_cast<const FieldNode&>(node).names);
      case NodeType::kIdentifier:
        text_ += static_cast<const IdentifierNode&>(node).name;
        return;
      case NodeType::kIf:
        return WriteBranch("if", static_cast<const BranchNode&>(node));
      case NodeType::kRange:
        return WriteBranch("range", static_cast<const BranchNode&>(node));
      case NodeType::kWith:
        return WriteBranch("with", static_cast<const BranchNode&>(node));
      case NodeType::kList:
        for (const Node* child : static_cast<const ListNode&>(node).nodes) Write(*child);
        return;
      case NodeType::kNil:
        text_ += "nil";
        return;
      case NodeType::kNumber:
        text_ += static_cast<const NumberNode&>(node).text;
        return;
      case NodeType::kPipe:
        return WritePipe(static_cast<const PipeNode&>(node));
      case NodeType::kString:
        text_ += static_cast<const StringNode&>(node).quoted;
        return;
      case NodeType::kTemplate:
        return WriteTemplate(static_cast<const TemplateNode&>(node));
      case NodeType::kVariable:
        return WriteVariable(static_cast<const VariableNode&>(node));
      case NodeType::kBreak:
        text_ += "{{break}}";
        return;
      case NodeType::kContinue:
        text_ += "{{continue}}";
        return;
    }
  }

  std::string Take() && { return std::move(text_); }

 private:
  void WriteFields(const std::vector<std::string>& names) {
    for (const std::string& name : names) text_ += "." + name;
  }

  void WriteVariable(const VariableNode& variable) {
    const char* separator = "";
    for (const std::string& name : variable.names) {
      text_ += separator + name;
      separator = ".";
    }
  }

  void WriteArgument(const Node& node) {
    if (node.type != NodeType::kPipe) return Write(node);
    text_ += '(';
    Write(node);
    text_ += ')';
  }

  void WriteCommand(const CommandNode& command) {
    const char* separator = "";
    for (const Node* argument : command.arguments) {
      text_ += separator;
      WriteArgument(*argument);
      separator = " ";
    }
  }

  void WritePipe(const PipeNode& pipe) {
    const char* separator = "";
    for (const VariableNode* variable : pipe.variables) {
      text_ += separator;
      WriteVariable(*variable);
      separator = ", ";
    }
    if (!pipe.variables.empty()) text_ += pipe.is_assignment ? " = " : " := ";
    separator = "";
    for (const CommandNode* command : pipe.commands) {
      text_ += separator;
      WriteCommand(*command);
      separator = " | ";
    }
  }

  void WriteBranch(const char* keyword, const BranchNode& branch) {
    text_ += "{{";
    text_ += keyword;
    text_ += ' ';
    WritePipe(*branch.pipe);
    text_ += "}}";
    Write(*branch.list);
    if (branch.else_list != nullptr) {
      text_ += "{{else}}";
      Write(*branch.else_list);
    }
    text_ += "{{end}}";
  }

  void WriteTemplate(const TemplateNode& node) {
    text_ += "{{template " + gotext::Quoted(node.name);
    if (node.pipe != nullptr) {
      text_ += ' ';
      WritePipe(*node.pipe);
    }
    text_ += "}}";
  }

  std::string text_;
};

}  // namespace

std::string SourceOf(const Node& node) {
  SourceWriter writer;
  writer.Write(node);
  return std::move(writer).Take();
}

}  // namespace pintle::gotemplate
