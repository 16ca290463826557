// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/printer.h"

#include "gotext/unicode.h"

namespace pintle::gotemplate {
namespace {

// Real addresses would differ between executions, so all pointers print the same address.
constexpr std::uint64_t kAddress = 0xc000010000;

// Returns the value inside an interface, unless the interface is nil.
Value FieldValue(const Value& value) { return value.is_interface() && !value.is_nil() ? value.Inside() : value; }

bool IsBytesVerb(char32_t verb) { return verb == 's' || verb == 'q' || verb == 'x' || verb == 'X'; }

}  // namespace

std::string_view TypeName(const Value& value) { return value.is_valid() ? value.type().name : "<nil>"; }

void Printer::PrintArgument(const Value& argument, char32_t verb) {
  argument_ = WithoutInterface(argument);
  const Value value = argument_;
  if (!value.is_valid()) {
    if (verb == 'T' || verb == 'v') return PrintPadded("<nil>");
    return PrintBadVerb(verb);
  }
  if (verb == 'T') return PrintPlain(TypeName(value));
  if (verb == 'p') return PrintAddress(value, verb);
  if (value.kind() == Kind::kSlice && value.is_bytes() && !value.type().is_named) return PrintBytes(value, verb);
  if (verb == 'w') return PrintBadVerb(verb);  // The verb %w is only for errors that are wrapped.
  PrintValue(value, verb, 0);
}

void Printer::PrintReflected(const Value& value, char32_t verb) {
  argument_ = WithoutInterface(value);
  PrintValue(value, verb, 0);
}

void Printer::PrintValue(const Value& value, char32_t verb, std::size_t depth) {
  if (is_full()) return;
  if (depth > 0 && value.is_valid()) argument_ = WithoutInterface(value);
  const Kind kind = value.kind();
  if (IsSigned(kind)) return PrintInteger(value.unsigned_integer(), Signedness::kSigned, verb);
  if (IsUnsigned(kind)) return PrintInteger(value.unsigned_integer(), Signedness::kUnsigned, verb);
  switch (kind) {
    case Kind::kInvalid:
      if (depth == 0) {
        to_ += "<invalid reflect.Value>";
      } else if (verb == 'v') {
        to_ += "<nil>";
      } else {
        PrintBadVerb(verb);
      }
      return;
    case Kind::kBool:
      return PrintBool(value.boolean(), verb);
    case Kind::kFloat32:
      return PrintFloat(value.real(), 32, verb);
    case Kind::kFloat64:
      return PrintFloat(value.real(), 64, verb);
    case Kind::kComplex128:
      return PrintComplex(value, verb);
    case Kind::kString:
      return PrintText(value.text(), verb);
    case Kind::kMap:
      return PrintMap(value, verb, depth);
    case Kind::kStruct:
      return PrintStruct(value, verb, depth);
    case Kind::kInterface:
      if (!value.is_nil()) return PrintValue(value.Inside(), verb, depth + 1);
      if (flags_.as_source) to_ += TypeName(value);
      to_ += flags_.as_source ? "(nil)" : "<nil>";
      return;
    case Kind::kSlice:
    case Kind::kArray:
      return PrintSequence(value, verb, depth);
    case Kind::kPointer:
      return PrintPointer(value, verb, depth);
    default:
      return PrintAddress(value, verb);
  }
}

// Prints an error such as %!d(string=hi).
void Printer::PrintBadVerb(char32_t verb) {
  to_ += "%!";
  gotext::AppendRune(verb, to_);
  to_ += '(';
  if (const Value argument = argument_; argument.is_valid()) {
    to_ += TypeName(argument);
    to_ += '=';
    PrintArgument(argument, 'v');
  } else {
    to_ += "<nil>";
  }
  to_ += ')';
}

void Printer::PrintMap(const Value& value, char32_t verb, std::size_t depth) {
  if (flags_.as_source) {
    to_ += TypeName(value);
    if (value.is_nil()) {
      to_ += "(nil)";
      return;
    }
  }
  to_ += flags_.as_source ? "{" : "map[";
  const char* separator = "";
  for (const auto& [key, element] : value.entries()) {
    to_ += separator;
    PrintValue(key, verb, depth + 1);
    to_ += ':';
    PrintValue(element, verb, depth + 1);
    separator = flags_.as_source ? ", " : " ";
  }
  to_ += flags_.as_source ? '}' : ']';
}

void Printer::PrintStruct(const Value& value, char32_t verb, std::size_t depth) {
  if (flags_.as_source) to_ += TypeName(value);
  to_ += '{';
  const char* separator = "";
  const auto& fields = value.type().fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    to_ += separator;
    if (flags_.with_names || flags_.as_source) {
      to_ += fields[i].name;
      to_ += ':';
    }
    PrintValue(FieldValue(value.FieldAt(i)), verb, depth + 1);
    separator = flags_.as_source ? ", " : " ";
  }
  to_ += '}';
}

void Printer::PrintSequence(const Value& value, char32_t verb, std::size_t depth) {
  if (value.is_bytes() && IsBytesVerb(verb)) return PrintBytes(value, verb);
  if (flags_.as_source) {
    to_ += TypeName(value);
    if (value.kind() == Kind::kSlice && value.is_nil()) {
      to_ += "(nil)";
      return;
    }
  }
  to_ += flags_.as_source ? '{' : '[';
  const char* separator = "";
  for (std::size_t i = 0; i < value.size(); ++i) {
    to_ += separator;
    PrintValue(value.ElementAt(i), verb, depth + 1);
    separator = flags_.as_source ? ", " : " ";
  }
  to_ += flags_.as_source ? '}' : ']';
}

void Printer::PrintBytes(const Value& value, char32_t verb) {
  const std::string_view text = value.text();
  if (verb == 's') return PrintPlain(text);
  if (verb == 'q') return PrintQuoted(text);
  if (verb == 'x' || verb == 'X') return PrintHexBytes(text, verb == 'X');
  if (verb != 'v' && verb != 'd') {
    // The verb is wrong, and as in Go, each byte prints its own error.
    to_ += '[';
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (i > 0) to_ += ' ';
      PrintValue(value.ElementAt(i), verb, 1);
    }
    to_ += ']';
    return;
  }
  if (flags_.as_source) {
    to_ += value.type().is_named ? TypeName(value) : "[]byte";
    if (value.is_nil()) {
      to_ += "(nil)";
      return;
    }
  }
  to_ += flags_.as_source ? '{' : '[';
  const char* separator = "";
  for (const char c : text) {
    if (is_full()) break;
    to_ += separator;
    if (flags_.as_source) {
      PrintHex(static_cast<unsigned char>(c), HexPrefix::k0x);
    } else {
      PrintDigits(static_cast<unsigned char>(c), 10, Signedness::kUnsigned, verb);
    }
    separator = flags_.as_source ? ", " : " ";
  }
  to_ += flags_.as_source ? '}' : ']';
}

void Printer::PrintPointer(const Value& value, char32_t verb, std::size_t depth) {
  const Kind target = value.type().element->kind;
  const bool prints_target = IsSequence(target) || target == Kind::kStruct || target == Kind::kMap;
  if (depth > 0 || value.is_nil() || !prints_target) return PrintAddress(value, verb);
  to_ += '&';
  PrintValue(value.Inside(), verb, depth + 1);
}

void Printer::PrintAddress(const Value& value, char32_t verb) {
  const Kind kind = value.kind();
  if (kind != Kind::kPointer && kind != Kind::kMap && kind != Kind::kSlice && kind != Kind::kFunction) {
    return PrintBadVerb(verb);
  }
  const std::uint64_t address = value.is_nil() ? 0 : kAddress;
  const HexPrefix prefix = flags_.sharp ? HexPrefix::kNone : HexPrefix::k0x;
  switch (verb) {
    case 'v':
      if (flags_.as_source) {
        to_ += '(';
        to_ += TypeName(value);
        to_ += ")(";
        if (address == 0) {
          to_ += "nil";
        } else {
          PrintHex(address, HexPrefix::k0x);
        }
        to_ += ')';
      } else if (address == 0) {
        PrintPadded("<nil>");
      } else {
        PrintHex(address, prefix);
      }
      return;
    case 'p':
      return PrintHex(address, prefix);
    case 'b':
    case 'o':
    case 'd':
    case 'x':
    case 'X':
      return PrintInteger(address, Signedness::kUnsigned, verb);
    default:
      return PrintBadVerb(verb);
  }
}

}  // namespace pintle::gotemplate
