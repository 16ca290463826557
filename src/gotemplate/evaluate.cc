// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "gotemplate/execution.h"
#include "gotext/quote.h"

namespace pintle::gotemplate {
namespace {

bool IsCharacter(std::string_view text) { return text.starts_with('\''); }

bool IsHexInteger(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
         text.find_first_of("pP") == std::string_view::npos;
}

}  // namespace

Result<Value> Execution::EvaluatePipeline(const Value& dot, const PipeNode* pipe) {
  if (pipe == nullptr) return Value();
  const Level level(*this);
  SetCurrentNode(*pipe);
  TRY(CheckDepth());
  TRY(CountStep());
  Value value;
  const Value* final = nullptr;
  for (const CommandNode* command : pipe->commands) {
    value = WithoutInterface(TRY(EvaluateCommand(dot, *command, final)));
    final = &value;
  }
  for (const VariableNode* variable : pipe->variables) {
    if (pipe->is_assignment) {
      TRY(SetVariable(variable->names.front(), value));
    } else {
      variables_.push_back({variable->names.front(), value});
    }
  }
  return value;
}

Result<Value> Execution::EvaluateCommand(const Value& dot, const CommandNode& command, const Value* final) {
  const Node& first = *command.arguments.front();
  const Arguments arguments{command.arguments, final};
  switch (first.type) {
    case NodeType::kField:
      return EvaluateFieldNode(dot, static_cast<const FieldNode&>(first), arguments);
    case NodeType::kChain:
      return EvaluateChain(dot, static_cast<const ChainNode&>(first), arguments);
    case NodeType::kIdentifier:
      return EvaluateFunction(dot, static_cast<const IdentifierNode&>(first), command, arguments);
    case NodeType::kPipe:
      TRY(CheckNotCalled(arguments));
      return EvaluatePipeline(dot, &static_cast<const PipeNode&>(first));
    case NodeType::kVariable:
      return EvaluateVariable(dot, static_cast<const VariableNode&>(first), arguments);
    default:
      SetCurrentNode(first);
      TRY(CheckNotCalled(arguments));
      return EvaluateConstant(dot, first);
  }
}

Result<Value> Execution::EvaluateConstant(const Value& dot, const Node& word) {
  switch (word.type) {
    case NodeType::kBool:
      return Value::Bool(static_cast<const BoolNode&>(word).value);
    case NodeType::kDot:
      return dot;
    case NodeType::kNil:
      return Fail("nil is not a command");
    case NodeType::kNumber:
      return IdealConstant(static_cast<const NumberNode&>(word));
    case NodeType::kString:
      return Value::Text(static_cast<const StringNode&>(word).value);
    default:
      return Fail("can't evaluate command " + gotext::Quoted(SourceOf(word)));
  }
}

Result<> Execution::CheckNotCalled(const Arguments& arguments) const {
  if (!arguments.has_any()) return {};
  return Fail("can't give argument to non-function " + SourceOf(*arguments.words.front()));
}

// Evaluates a number where no type is required.  The value has the type that Go gives the number by default.
Result<Value> Execution::IdealConstant(const NumberNode& number) {
  SetCurrentNode(number);
  const Number& value = number.value;
  if (value.complex) return Value::Complex(*value.complex);
  const bool looks_real = !IsHexInteger(number.text) && !IsCharacter(number.text) &&
                          number.text.find_first_of(".eEpP") != std::string_view::npos;
  if (value.real && looks_real) return Value::Real(*value.real);
  if (value.integer) return Value::Integer(*value.integer);
  if (value.unsigned_integer) return Fail(fmt::format("{} overflows int", number.text));
  return Value();
}

Result<Value> Execution::EvaluateFieldNode(const Value& dot, const FieldNode& node, const Arguments& arguments) {
  SetCurrentNode(node);
  return EvaluateFields(dot, node.names, arguments);
}

Result<Value> Execution::EvaluateChain(const Value& dot, const ChainNode& chain, const Arguments& arguments) {
  SetCurrentNode(chain);
  if (chain.node->type == NodeType::kNil) return Fail("indirection through explicit nil in " + SourceOf(chain));
  return EvaluateFields(TRY(EvaluateArgument(dot, nullptr, *chain.node)), chain.names, arguments);
}

Result<Value> Execution::EvaluateVariable(const Value&, const VariableNode& variable, const Arguments& arguments) {
  SetCurrentNode(variable);
  const Value value = TRY(VariableValue(variable.names.front()));
  if (variable.names.size() > 1) return EvaluateFields(value, std::span(variable.names).subspan(1), arguments);
  TRY(CheckNotCalled(arguments));
  return value;
}

Result<Value> Execution::EvaluateFields(Value receiver, std::span<const std::string> names,
                                        const Arguments& arguments) {
  const Arguments none;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) receiver = TRY(EvaluateField(receiver, names[i], none));
  return EvaluateField(receiver, names.back(), arguments);
}

Result<Value> Execution::EvaluateField(const Value& receiver, const std::string& name, const Arguments& arguments) {
  if (!receiver.is_valid()) {
    if (options_.missing_key == MissingKey::kError) {
      return Fail(fmt::format("nil data; no entry for key {}", gotext::Quoted(name)));
    }
    return Value();
  }
  const Type& type = receiver.type();
  const FollowedValue followed = Follow(receiver);
  const auto nil_error = [&] { return Fail(fmt::format("nil pointer evaluating {}.{}", type.name, name)); };
  switch (followed.value.kind()) {
    case Kind::kInterface:
      return nil_error();
    case Kind::kStruct:
      return FieldOfStruct(followed.value, type, name, arguments);
    case Kind::kMap:
      if (IsAssignable(kStringType, *followed.value.type().key)) {
        return FieldOfMap(followed.value, name, arguments);
      }
      break;
    case Kind::kPointer: {
      const Type& to = *followed.value.type().element;
      if (followed.is_nil && (to.kind != Kind::kStruct || FindField(to, name))) return nil_error();
      break;
    }
    default:
      break;
  }
  return Fail(fmt::format("can't evaluate field {} in type {}", name, type.name));
}

Result<Value> Execution::FieldOfStruct(const Value& receiver, const Type& type, const std::string& name,
                                       const Arguments& arguments) {
  const auto path = FindField(receiver.type(), name);
  if (!path) return Fail(fmt::format("can't evaluate field {} in type {}", name, type.name));
  if (!path->field->is_exported()) {
    return Fail(fmt::format("{} is an unexported field of struct type {}", name, type.name));
  }
  Value field = receiver;
  for (std::size_t i = 0; i < path->length; ++i) {
    if (i > 0 && field.kind() == Kind::kPointer) {
      if (field.is_nil()) {
        std::string_view inner = field.type().element->name;
        inner.remove_prefix(inner.rfind('.') + 1);
        return Fail(fmt::format("reflect: indirection through nil pointer to embedded struct field {}", inner));
      }
      field = field.Inside();
    }
    field = field.FieldAt(path->indices[i]);
  }
  if (arguments.has_any()) return Fail(name + " has arguments but cannot be invoked as function");
  return field;
}

Result<Value> Execution::FieldOfMap(const Value& receiver, const std::string& name, const Arguments& arguments) {
  if (arguments.has_any()) return Fail(name + " is not a method but has arguments");
  const Value value = Find(receiver, name);
  if (value.is_valid() || options_.missing_key == MissingKey::kInvalid) return value;
  if (options_.missing_key == MissingKey::kZero) return Value::Zero(*receiver.type().element);
  return Fail("map has no entry for key " + gotext::Quoted(name));
}

}  // namespace pintle::gotemplate
