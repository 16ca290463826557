// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "gotemplate/execution.h"
#include "gotemplate/invalid.h"
#include "gotext/quote.h"

namespace pintle::gotemplate {
namespace {

bool IsInteger(Kind kind) { return IsSigned(kind) || IsUnsigned(kind); }

// Converts a whole number to another type.  If the type is too small, the lowest bits remain.
Value Converted(const Value& value, const Type& type) {
  const std::uint64_t bits = value.unsigned_integer();
  switch (type.kind) {
    case Kind::kInt8:
      return Value::Integer(static_cast<std::int8_t>(bits), type);
    case Kind::kInt16:
      return Value::Integer(static_cast<std::int16_t>(bits), type);
    case Kind::kInt32:
      return Value::Integer(static_cast<std::int32_t>(bits), type);
    case Kind::kInt:
    case Kind::kInt64:
      return Value::Integer(static_cast<std::int64_t>(bits), type);
    case Kind::kUint8:
      return Value::Unsigned(static_cast<std::uint8_t>(bits), type);
    case Kind::kUint16:
      return Value::Unsigned(static_cast<std::uint16_t>(bits), type);
    case Kind::kUint32:
      return Value::Unsigned(static_cast<std::uint32_t>(bits), type);
    default:
      return Value::Unsigned(bits, type);
  }
}

// Returns the type of the parameter for the argument with this index.
const Type& ParameterTypeAt(const Function& function, std::size_t index) {
  return *function.parameters[std::min(index, function.parameters.size() - 1)];
}

// Returns the name that errors have for a function that a template calls by {{call}} and not by its name.
std::string CalleeName(const Value& value) {
  if (!value.is_valid()) return "<invalid Value>";
  if (value.kind() == Kind::kString) return std::string(value.text());
  return fmt::format("<{} Value>", value.type().name);
}

}  // namespace

Result<Value> PreparedArgument(Value value, const Type& type) {
  if (&type == &kAnyValueType) return value;
  if (!value.is_valid()) {
    if (!CanBeNil(type.kind)) return Invalid(fmt::format("value is nil; should be of type {}", type.name));
    value = Value::Zero(type);
  }
  if (IsAssignable(value.type(), type)) return value;
  if (IsInteger(value.kind()) && IsInteger(type.kind)) return Converted(value, type);
  return Invalid(fmt::format("value has type {}; should be {}", value.type().name, type.name));
}

Execution::Callee Execution::FindFunction(std::string_view name) const {
  if (const auto own = functions_.find(name); own != functions_.end()) return {&own->second, false};
  const auto builtin = Builtins().find(name);
  return builtin == Builtins().end() ? Callee{} : Callee{&builtin->second, true};
}

// Calls a function.  An error of the call quotes `command`.
Result<Value> Execution::EvaluateFunction(const Value& dot, const IdentifierNode& node, const Node& command,
                                          const Arguments& arguments) {
  SetCurrentNode(node);
  TRY(CountStep());
  const auto [function, is_builtin] = FindFunction(node.name);
  if (function == nullptr) return Fail(gotext::Quoted(node.name) + " is not a defined function");
  TRY(CheckArgumentCount(*function, node.name, arguments));
  if (is_builtin && (node.name == "and" || node.name == "or")) {
    return EvaluateAndOr(dot, node.name == "or", arguments);
  }
  const std::vector<Value> values = TRY(EvaluateArguments(dot, *function, arguments));
  const bool is_call = is_builtin && node.name == "call";
  const std::string callee = !is_call                    ? ""
                             : arguments.nodes().empty() ? CalleeName(*arguments.final)
                                                         : SourceOf(*arguments.nodes().front());
  Result<Value> result = is_call ? CallValue(callee, values) : Call(*function, values);
  if (result) return result;
  SetCurrentNode(command);
  return Fail(fmt::format("error calling {}: {}", node.name, result.error().message()));
}

Result<> Execution::CheckArgumentCount(const Function& function, const std::string& name,
                                       const Arguments& arguments) const {
  const std::size_t given = arguments.nodes().size() + (arguments.final != nullptr ? 1 : 0);
  const std::size_t wanted = function.parameters.size() - (function.is_variadic ? 1 : 0);
  if (function.is_variadic ? given >= wanted : given == wanted) return {};
  // As in Go, the error about a variadic function does not count the result of the previous command.
  return Fail(function.is_variadic ? fmt::format("wrong number of args for {}: want at least {} got {}", name, wanted,
                                                 arguments.nodes().size())
                                   : fmt::format("wrong number of args for {}: want {} got {}", name, wanted, given));
}

// Implements the built-in functions `or` (if `is_or`) and `and`.  Evaluates arguments until one of them decides the
// result, and returns the value of this argument.  If no argument decides it, returns the value of the last argument.
Result<Value> Execution::EvaluateAndOr(const Value& dot, bool is_or, const Arguments& arguments) {
  Value value;
  for (const Node* argument : arguments.nodes()) {
    value = TRY(EvaluateArgument(dot, &kAnyValueType, *argument));
    if (IsTrue(WithoutInterface(value)) == is_or) return value;
  }
  return arguments.final != nullptr ? *arguments.final : value;
}

Result<std::vector<Value>> Execution::EvaluateArguments(const Value& dot, const Function& function,
                                                        const Arguments& arguments) {
  std::vector<Value> values;
  values.reserve(arguments.nodes().size() + 1);
  for (const Node* argument : arguments.nodes()) {
    values.push_back(TRY(EvaluateArgument(dot, &ParameterTypeAt(function, values.size()), *argument)));
  }
  if (arguments.final != nullptr) {
    values.push_back(TRY(CheckType(*arguments.final, &ParameterTypeAt(function, values.size()))));
  }
  // If the parameter is an interface, the function gets the value inside of the argument's interface.
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (&ParameterTypeAt(function, i) == &kAnyType) values[i] = WithoutInterface(values[i]);
  }
  return values;
}

// Returns the value of an argument for a parameter of this type.  If `type` is nullptr, any value is accepted.
Result<Value> Execution::EvaluateArgument(const Value& dot, const Type* type, const Node& node) {
  SetCurrentNode(node);
  const Arguments none;
  const std::array<const Node*, 1> itself = {&node};  // A command that consists of this node only.
  switch (node.type) {
    case NodeType::kDot:
      return CheckType(dot, type);
    case NodeType::kNil:
      if (type == &kAnyValueType) return Value();
      if (type != nullptr && CanBeNil(type->kind)) return Value::Zero(*type);
      return Fail(fmt::format("cannot assign nil to {}", type == nullptr ? "<nil>" : type->name));
    case NodeType::kField:
      return CheckType(TRY(EvaluateFieldNode(dot, static_cast<const FieldNode&>(node), {itself, nullptr})), type);
    case NodeType::kVariable:
      return CheckType(TRY(EvaluateVariable(dot, static_cast<const VariableNode&>(node), none)), type);
    case NodeType::kPipe:
      return CheckType(TRY(EvaluatePipeline(dot, &static_cast<const PipeNode&>(node))), type);
    case NodeType::kIdentifier: {
      const auto& identifier = static_cast<const IdentifierNode&>(node);
      return CheckType(TRY(EvaluateFunction(dot, identifier, identifier, none)), type);
    }
    case NodeType::kChain:
      return CheckType(TRY(EvaluateChain(dot, static_cast<const ChainNode&>(node), none)), type);
    default:
      break;
  }
  if (type == nullptr || type == &kAnyValueType || type->kind == Kind::kInterface) return EvaluateAnyArgument(node);
  return EvaluateTypedConstant(*type, node);
}

Result<Value> Execution::EvaluateAnyArgument(const Node& node) {
  SetCurrentNode(node);
  return EvaluateConstant(Value(), node);
}

Result<Value> Execution::EvaluateTypedConstant(const Type& type, const Node& node) {
  SetCurrentNode(node);
  const NumberNode* const number = node.type == NodeType::kNumber ? &static_cast<const NumberNode&>(node) : nullptr;
  const auto expected = [&](const char* kind_name) {
    return Fail(fmt::format("expected {}; found {}", kind_name, SourceOf(node)));
  };
  if (type.kind == Kind::kBool) {
    if (node.type != NodeType::kBool) return expected("bool");
    return Value::Bool(static_cast<const BoolNode&>(node).value, type);
  }
  if (type.kind == Kind::kString) {
    if (node.type != NodeType::kString) return expected("string");
    return Value::Text(static_cast<const StringNode&>(node).value, type);
  }
  if (IsSigned(type.kind)) {
    if (number == nullptr || !number->value.integer) return expected("integer");
    return Converted(Value::Integer(*number->value.integer), type);
  }
  if (IsUnsigned(type.kind)) {
    if (number == nullptr || !number->value.unsigned_integer) return expected("unsigned integer");
    return Converted(Value::Unsigned(*number->value.unsigned_integer), type);
  }
  if (IsFloat(type.kind)) {
    if (number == nullptr || !number->value.real) return expected("float");
    return Value::Real(*number->value.real, type);
  }
  if (type.kind == Kind::kComplex128) {
    if (number == nullptr || !number->value.complex) return expected("complex");
    return Value::Complex(*number->value.complex);
  }
  return Fail(fmt::format("can't handle {} for arg of type {}", SourceOf(node), type.name));
}

// Returns the value as a value of this type.  As in Go, an interface is replaced by the value inside, and a pointer by
// its target, if this makes the type right.  If `type` is nullptr, any value is accepted.
Result<Value> Execution::CheckType(Value value, const Type* type) const {
  if (type == nullptr || type == &kAnyValueType) return value;
  if (!value.is_valid()) {
    if (CanBeNil(type->kind)) return Value::Zero(*type);
    return Fail(fmt::format("invalid value; expected {}", type->name));
  }
  if (IsAssignable(value.type(), *type)) return value;
  if (value.is_interface() && !value.is_nil()) {
    value = value.Inside();
    if (IsAssignable(value.type(), *type)) return value;
  }
  if (value.kind() == Kind::kPointer && IsAssignable(*value.type().element, *type)) {
    if (value.is_nil()) return Fail(fmt::format("dereference of nil pointer of type {}", type->name));
    return value.Inside();
  }
  return Fail(fmt::format("wrong type for value; expected {}; got {}", type->name, value.type().name));
}

Result<Value> Execution::Call(const Function& function, std::span<const Value> arguments) {
  const Value result = TRY(function.call(arguments, memory_));
  return function.result == &kAnyType ? result.AsInterface() : result;
}

// Implements the built-in function `call`.
Result<Value> Execution::CallValue(const std::string& name, std::span<const Value> arguments) {
  const Value callee = WithoutInterface(arguments.front());
  if (!callee.is_valid()) return Invalid("call of nil");
  if (callee.kind() != Kind::kFunction) {
    return Invalid(fmt::format("non-function {} of type {}", name, callee.type().name));
  }
  // Go's reflection reports a nil function in this way.
  if (callee.is_nil()) return Invalid("reflect: call of nil function");
  const Function& function = *callee.function();
  const std::size_t given = arguments.size() - 1;
  const std::size_t wanted = function.parameters.size() - (function.is_variadic ? 1 : 0);
  if (function.is_variadic ? given < wanted : given != wanted) {
    return Invalid(fmt::format("wrong number of args for {}: got {} want {}{}", name, given,
                               function.is_variadic ? "at least " : "", wanted));
  }
  std::vector<Value> values;
  for (std::size_t i = 0; i < given; ++i) {
    const Value argument = WithoutInterface(arguments[i + 1]);
    values.push_back(TRY(PreparedArgument(argument, ParameterTypeAt(function, i)), fmt::format("arg {}", i)));
  }
  return Call(function, values);
}

}  // namespace pintle::gotemplate
