// SPDX-License-Identifier: Apache-2.0
#pragma once

// One execution of a template.  Walk functions print nodes, and Evaluate functions return the values of nodes.  `dot`
// is the current data, which a template reads as {{.}}.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gotemplate/execute.h"
#include "gotemplate/nodes.h"

namespace pintle::gotemplate {

class Execution {
 public:
  Execution(const Template& parsed, const Functions& functions, std::string& output, const ExecuteOptions& options)
      : template_(parsed), functions_(functions), output_(output), options_(options), name_(parsed.name()) {}

  Result<> Run(const Value& data);

 private:
  // The effect of a node on the loop around it.
  enum class Flow : std::uint8_t { kProceed, kBreak, kContinue };

  struct Variable {
    std::string_view name;
    Value value;
  };

  struct Callee {
    const Function* function = nullptr;  // nullptr if there is no such function.
    bool is_builtin = false;
  };

  // The arguments of a command.  `words` has the function and the arguments after it.  `final` is the last argument:
  // the result of the previous command of the pipeline, or nullptr in its first command.
  struct Arguments {
    std::span<const Node* const> words = {};
    const Value* final = nullptr;

    bool has_any() const { return words.size() > 1 || final != nullptr; }
    // Returns the nodes of the arguments, without the function.
    std::span<const Node* const> nodes() const { return words.empty() ? words : words.subspan(1); }
  };

  // Counts a level of recursion while it exists, so that CheckDepth() can limit the use of the stack.  Every recursion,
  // in a tree or from template to template, passes through a function that makes a Level.
  class Level {
   public:
    explicit Level(Execution& execution) : execution_(execution) { ++execution_.depth_; }
    ~Level() { --execution_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Execution& execution_;
  };

  Error Fail(std::string_view error) const;
  Result<> CountStep();
  Result<> CheckDepth() const;
  void SetCurrentNode(const Node& node) { current_node_ = &node; }

  // These are in walk.cc.
  Result<Flow> WalkList(const Value& dot, const ListNode& list);
  Result<Flow> Walk(const Value& dot, const Node& node);
  Result<> WalkAction(const Value& dot, const ActionNode& action);
  Result<Flow> WalkIfOrWith(const Value& dot, const BranchNode& branch);
  Result<Flow> WalkRange(const Value& dot, const BranchNode& range);
  Result<Flow> WalkElements(const Value& dot, const BranchNode& range);
  Result<Flow> WalkIteration(const BranchNode& range, const Value& index, const Value& element);
  Result<> SetLoopVariables(const PipeNode& pipe, const Value& index, const Value& element);
  Result<> WalkTemplate(const Value& dot, const TemplateNode& node);
  Result<> Print(const Node& node, const Value& value);
  Result<> Write(std::string_view text);

  Result<> SetVariable(std::string_view name, const Value& value);
  Result<Value> VariableValue(std::string_view name) const;

  // These are in evaluate.cc.
  Result<Value> EvaluatePipeline(const Value& dot, const PipeNode* pipe);
  Result<Value> EvaluateCommand(const Value& dot, const CommandNode& command, const Value* final);
  Result<Value> EvaluateConstant(const Value& dot, const Node& word);
  Result<> CheckNotCalled(const Arguments& arguments) const;
  Result<Value> IdealConstant(const NumberNode& number);
  Result<Value> EvaluateFieldNode(const Value& dot, const FieldNode& node, const Arguments& arguments);
  Result<Value> EvaluateChain(const Value& dot, const ChainNode& chain, const Arguments& arguments);
  Result<Value> EvaluateVariable(const Value& dot, const VariableNode& variable, const Arguments& arguments);
  Result<Value> EvaluateFields(Value receiver, std::span<const std::string> names, const Arguments& arguments);
  Result<Value> EvaluateField(const Value& receiver, const std::string& name, const Arguments& arguments);
  Result<Value> FieldOfStruct(const Value& receiver, const Type& type, const std::string& name,
                              const Arguments& arguments);
  Result<Value> FieldOfMap(const Value& receiver, const std::string& name, const Arguments& arguments);

  // These are in call.cc.
  Callee FindFunction(std::string_view name) const;
  Result<Value> EvaluateFunction(const Value& dot, const IdentifierNode& node, const Node& command,
                                 const Arguments& arguments);
  Result<> CheckArgumentCount(const Function& function, const std::string& name, const Arguments& arguments) const;
  Result<Value> EvaluateAndOr(const Value& dot, bool is_or, const Arguments& arguments);
  Result<std::vector<Value>> EvaluateArguments(const Value& dot, const Function& function, const Arguments& arguments);
  Result<Value> EvaluateArgument(const Value& dot, const Type* type, const Node& node);
  Result<Value> EvaluateAnyArgument(const Node& node);
  Result<Value> EvaluateTypedConstant(const Type& type, const Node& node);
  Result<Value> CheckType(Value value, const Type* type) const;
  Result<Value> Call(const Function& function, std::span<const Value> arguments);
  Result<Value> CallValue(const std::string& name, std::span<const Value> arguments);

  const Template& template_;
  const Functions& functions_;
  std::string& output_;
  const ExecuteOptions& options_;
  std::string_view name_;               // The name of the template that is being executed.
  const Node* current_node_ = nullptr;  // The node that errors quote.
  std::vector<Variable> variables_;
  std::size_t first_variable_ = 0;  // The index of this template's first variable.
  Memory memory_;
  std::size_t depth_ = 0;
  std::size_t steps_ = 0;
};

// Converts a value to an argument for a parameter of this type.  An invalid Value becomes nil if the type can be nil;
// otherwise it is an error.  Whole numbers are converted.  Errors have the words of Go.
Result<Value> PreparedArgument(Value value, const Type& type);

struct Printable {
  Value value;
  bool can_be_printed;
};
// Returns the value that is printed for `value`.  For a pointer, this is the value that it refers to.  For an invalid
// Value, it is the text "<no value>".  A function cannot be printed.
Printable PrintableOf(const Value& value);

}  // namespace pintle::gotemplate
