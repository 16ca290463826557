// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <array>
#include <tuple>

#include "gotemplate/execution.h"
#include "gotemplate/print.h"
#include "gotext/quote.h"

namespace pintle::gotemplate {
namespace {

// The limit of recursion.  A level of a tree takes less than two kilobytes of the stack, and a call of a template takes
// two levels.
constexpr std::size_t kDeepest = 1000;

// Go's error for a template that calls itself without end.  Go's limit is higher, but no real template reaches ours.
constexpr const char* kTooDeep = "exceeded maximum template depth (100000)";

}  // namespace

Result<> Execute(const Template& parsed, const Functions& functions, const Value& data, std::string& output,
                 const ExecuteOptions& options) {
  return Execution(parsed, functions, output, options).Run(data);
}

Result<> Execution::Run(const Value& data) {
  const ListNode* const root = template_.Find(name_);
  if (root == nullptr) return Fail(gotext::Quoted(name_) + " is an incomplete or empty template");
  variables_.push_back({"$", data});
  TRY(WalkList(data, *root));
  return {};
}

Error Execution::Fail(std::string_view error) const {
  if (current_node_ == nullptr) return Error(ErrorKind::kInvalid, fmt::format("template: {}: {}", name_, error));
  return Error(ErrorKind::kInvalid,
               fmt::format("template: {}: executing {} at <{}>: {}", template_.PlaceOf(*current_node_),
                           gotext::Quoted(name_), SourceOf(*current_node_), error));
}

Result<> Execution::CountStep() {
  if (++steps_ > options_.max_steps) return Fail("the template takes too many steps");
  if (memory_.bytes() > options_.max_memory) return Fail("the template needs too much memory");
  return {};
}

Result<> Execution::CheckDepth() const {
  if (depth_ > kDeepest) return Fail(kTooDeep);
  return {};
}

Result<Execution::Flow> Execution::WalkList(const Value& dot, const ListNode& list) {
  const Level level(*this);
  TRY(CheckDepth());
  SetCurrentNode(list);
  for (const Node* node : list.nodes) {
    const Flow flow = TRY(Walk(dot, *node));
    if (flow != Flow::kProceed) return flow;
  }
  return Flow::kProceed;
}

Result<Execution::Flow> Execution::Walk(const Value& dot, const Node& node) {
  SetCurrentNode(node);
  TRY(CountStep());
  switch (node.type) {
    case NodeType::kText:
      TRY(Write(static_cast<const TextNode&>(node).text));
      return Flow::kProceed;
    case NodeType::kAction:
      TRY(WalkAction(dot, static_cast<const ActionNode&>(node)));
      return Flow::kProceed;
    case NodeType::kIf:
    case NodeType::kWith:
      return WalkIfOrWith(dot, static_cast<const BranchNode&>(node));
    case NodeType::kRange:
      return WalkRange(dot, static_cast<const BranchNode&>(node));
    case NodeType::kTemplate:
      TRY(WalkTemplate(dot, static_cast<const TemplateNode&>(node)));
      return Flow::kProceed;
    case NodeType::kBreak:
      return Flow::kBreak;
    case NodeType::kContinue:
      return Flow::kContinue;
    default:
      return Fail("unknown node: " + SourceOf(node));
  }
}

// A variable exists until the {{end}} around it.  An action that sets variables prints nothing.
Result<> Execution::WalkAction(const Value& dot, const ActionNode& action) {
  const Value value = TRY(EvaluatePipeline(dot, action.pipe));
  if (!action.pipe->variables.empty()) return {};
  return Print(action, value);
}

Result<Execution::Flow> Execution::WalkIfOrWith(const Value& dot, const BranchNode& branch) {
  const std::size_t variable_count = variables_.size();
  const Value value = TRY(EvaluatePipeline(dot, branch.pipe));
  Flow flow = Flow::kProceed;
  if (IsTrue(WithoutInterface(value))) {
    flow = TRY(WalkList(branch.type == NodeType::kWith ? value : dot, *branch.list));
  } else if (branch.else_list != nullptr) {
    flow = TRY(WalkList(dot, *branch.else_list));
  }
  variables_.resize(variable_count);
  return flow;
}

Result<Execution::Flow> Execution::WalkRange(const Value& dot, const BranchNode& range) {
  const std::size_t variable_count = variables_.size();
  const Flow flow = TRY(WalkElements(dot, range));
  variables_.resize(variable_count);
  return flow == Flow::kBreak ? Flow::kProceed : flow;
}

// A break ends its loop.  As in Go, a break in the {{else}} of a loop ends only this {{else}}, and not the enclosing
// loop, because WalkRange() does not return this break to its caller.
Result<Execution::Flow> Execution::WalkElements(const Value& dot, const BranchNode& range) {
  const Value value = Follow(TRY(EvaluatePipeline(dot, range.pipe))).value;
  const Kind kind = value.kind();
  if (IsSequence(kind)) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Value index = Value::Integer(static_cast<std::int64_t>(i));
      if (TRY(WalkIteration(range, index, value.ElementAt(i))) == Flow::kBreak) return Flow::kProceed;
    }
    if (value.size() > 0) return Flow::kProceed;
  } else if (kind == Kind::kMap) {
    for (const auto& [key, element] : value.entries()) {
      if (TRY(WalkIteration(range, key, element)) == Flow::kBreak) return Flow::kProceed;
    }
    if (value.size() > 0) return Flow::kProceed;
  } else if (IsSigned(kind) || IsUnsigned(kind)) {
    if (range.pipe->variables.size() > 1) {
      return Fail(fmt::format("can't use {} to iterate over more than one variable", FormattedValue(value)));
    }
    const bool is_negative = IsSigned(kind) && value.integer() < 0;
    const std::uint64_t count = is_negative ? 0 : value.unsigned_integer();
    for (std::uint64_t i = 0; i < count; ++i) {
      const Value element = IsSigned(kind) ? Value::Integer(static_cast<std::int64_t>(i), value.type())
                                           : Value::Unsigned(i, value.type());
      if (TRY(WalkIteration(range, Value(), element)) == Flow::kBreak) return Flow::kProceed;
    }
    if (count > 0) return Flow::kProceed;
  } else if (kind != Kind::kInvalid) {
    return Fail("range can't iterate over " + FormattedValue(value));
  }
  if (range.else_list == nullptr) return Flow::kProceed;
  const Flow flow = TRY(WalkList(dot, *range.else_list));
  return flow;
}

Result<Execution::Flow> Execution::WalkIteration(const BranchNode& range, const Value& index, const Value& element) {
  TRY(CountStep());
  const std::size_t variable_count = variables_.size();
  TRY(SetLoopVariables(*range.pipe, index, element));
  const Flow flow = TRY(WalkList(element, *range.list));
  variables_.resize(variable_count);
  return flow;
}

Result<> Execution::SetLoopVariables(const PipeNode& pipe, const Value& index, const Value& element) {
  const std::size_t count = pipe.variables.size();
  if (count == 0) return {};
  if (pipe.is_assignment) {
    TRY(SetVariable(pipe.variables[0]->names[0], count > 1 ? index : element));
    if (count > 1) TRY(SetVariable(pipe.variables[1]->names[0], element));
    return {};
  }
  variables_.back().value = element;
  if (count > 1) variables_[variables_.size() - 2].value = index;
  return {};
}

// A called template does not see the variables of its caller.
Result<> Execution::WalkTemplate(const Value& dot, const TemplateNode& node) {
  const ListNode* const tree = template_.Find(node.name);
  if (tree == nullptr) return Fail(fmt::format("template {} not defined", gotext::Quoted(node.name)));
  const Level level(*this);
  TRY(CheckDepth());
  const Value data = TRY(EvaluatePipeline(dot, node.pipe));
  const auto [outer_name, outer_node, outer_first_variable] = std::tuple(name_, current_node_, first_variable_);
  const std::size_t variable_count = variables_.size();
  name_ = node.name;
  first_variable_ = variable_count;
  variables_.push_back({"$", data});
  TRY(WalkList(data, *tree));
  variables_.resize(variable_count);
  name_ = outer_name;
  current_node_ = outer_node;
  first_variable_ = outer_first_variable;
  return {};
}

Result<> Execution::Print(const Node& node, const Value& value) {
  SetCurrentNode(node);
  const Printable printable = PrintableOf(value);
  if (!printable.can_be_printed) {
    return Fail(fmt::format("can't print {} of type {}", SourceOf(node), value.type().name));
  }
  if (printable.value.kind() == Kind::kString) return Write(printable.value.text());
  const Result<std::string> text = gotemplate::Print(std::array{printable.value});
  return text ? Write(*text) : Fail(text.error().message());
}

Result<> Execution::Write(std::string_view text) {
  if (output_.size() + text.size() > options_.max_output) return Fail("the output would be too long");
  output_ += text;
  return {};
}

Result<> Execution::SetVariable(std::string_view name, const Value& value) {
  for (std::size_t i = variables_.size(); i > first_variable_; --i) {
    if (variables_[i - 1].name != name) continue;
    variables_[i - 1].value = value;
    return {};
  }
  return Fail(fmt::format("undefined variable: {}", name));
}

Result<Value> Execution::VariableValue(std::string_view name) const {
  for (std::size_t i = variables_.size(); i > first_variable_; --i) {
    if (variables_[i - 1].name == name) return variables_[i - 1].value;
  }
  return Fail(fmt::format("undefined variable: {}", name));
}

Printable PrintableOf(const Value& value) {
  const Value inside = value.kind() == Kind::kPointer ? Follow(value).value : value;
  if (!inside.is_valid()) return {Value::Text("<no value>"), true};
  return {inside, inside.kind() != Kind::kFunction};
}

}  // namespace pintle::gotemplate
