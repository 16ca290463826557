// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values of templates.  They have Go's types, and are cheap to copy because their contents are stored elsewhere.
//
// In a few places, mostly in errors, Go distinguishes an interface from the value inside.  So the value of an element
// or a field whose type is an interface has the mark `is_interface`.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gotemplate/type.h"

namespace pintle::gotemplate {

struct Function;
struct MapEntry;

class Value {
 public:
  // Makes an invalid Value.  It stands for "no value", such as the value of a key that a map does not have.
  constexpr Value() = default;

  static Value Bool(bool value, const Type& type = kBoolType);
  static Value Integer(std::int64_t value, const Type& type = kIntType);
  static Value Unsigned(std::uint64_t value, const Type& type = kUintType);
  static Value Real(double value, const Type& type = kFloat64Type);
  static Value Complex(const std::complex<double>& value);                    // The number must outlive the value.
  static Value Text(std::string_view value, const Type& type = kStringType);  // The text must outlive the value.
  // Makes a slice of bytes.
  static Value Bytes(std::string_view value, const Type& type = kBytesType);
  static Value Sequence(const Type& type, std::span<const Value> elements);
  // The entries must be sorted by key.
  static Value Map(const Type& type, std::span<const MapEntry> entries);
  static Value Struct(const Type& type, const Value* fields);
  static Value Pointer(const Type& type, const Value* to);
  static Value Of(const Function& function, const Type& type);
  // Returns the zero value: nil, 0, "", or false.  The type must not be a struct or an array.
  static Value Zero(const Type& type);

  // Returns the value as it is in an element or a field whose type is an interface.
  Value AsInterface() const;

  Kind kind() const { return is_interface_ ? Kind::kInterface : type_ == nullptr ? Kind::kInvalid : type_->kind; }
  // The Value must be valid.
  const Type& type() const { return is_interface_ ? kAnyType : *type_; }

  bool is_valid() const { return kind() != Kind::kInvalid; }
  bool is_interface() const { return is_interface_; }
  // Returns whether Go could take the address of the value.  Go slices an array only if this is true.
  bool is_addressable() const { return is_addressable_; }
  // CanBeNil() must be true for the kind.
  bool is_nil() const;

  bool boolean() const { return boolean_; }
  std::int64_t integer() const { return integer_; }
  std::uint64_t unsigned_integer() const { return unsigned_; }
  double real() const { return real_; }
  std::complex<double> complex() const { return *complex_; }
  std::string_view text() const { return {text_ == nullptr ? "" : text_, length_}; }
  const Function* function() const { return function_; }
  // Returns the value that a pointer refers to, or that an interface holds.  Returns an invalid Value for nil.
  Value Inside() const;
  // Returns whether this value and `other` are the same pointer.
  bool IsSamePointer(const Value& other) const { return values_ == other.values_; }

  // Returns the number of elements or entries, or the length of a text in bytes.
  std::size_t size() const { return length_; }
  std::size_t capacity() const { return capacity_; }
  Value ElementAt(std::size_t index) const;
  // Returns a part of a sequence or a text as a value of `type`.
  Value Part(std::size_t begin, std::size_t end, std::size_t capacity_end, const Type& type) const;
  std::span<const MapEntry> entries() const;
  Value FieldAt(std::size_t index) const;

  // Returns whether a sequence is stored as the bytes of a text.
  bool is_bytes() const { return IsSequence(type_->kind) && type_->element->kind == Kind::kUint8; }

 private:
  const Type* type_ = nullptr;
  union {
    std::uint64_t unsigned_ = 0;
    std::int64_t integer_;
    bool boolean_;
    double real_;
    const char* text_;
    const Value* values_;
    const MapEntry* entries_;
    const std::complex<double>* complex_;
    const Function* function_;
  };
  std::uint32_t length_ = 0;
  std::uint32_t capacity_ = 0;
  bool is_interface_ = false;
  bool is_addressable_ = false;
};

struct MapEntry {
  Value key;
  Value value;
};

// Returns the value of a key that is a text, or an invalid Value if the map does not have the key.
Value Find(const Value& map, std::string_view key);
// Returns the value of a key of any type, or an invalid Value if the map does not have the key.
Value Find(const Value& map, const Value& key);

struct FollowedValue {
  Value value;
  bool is_nil;
};
// Follows pointers and interfaces to the value at their end.  If a pointer or an interface on the way is nil, returns
// that nil and sets `is_nil`.
FollowedValue Follow(Value value);
// Returns the value inside an interface; any other value is returned as it is.
Value WithoutInterface(const Value& value);

// Returns whether {{if}} takes the value for true.
bool IsTrue(const Value& value);

// Stores the texts, elements and entries that values refer to.  They stay at their addresses until the Memory is
// destroyed.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::string_view Keep(std::string text);
  std::span<const Value> Keep(std::vector<Value> values);
  std::span<const MapEntry> Keep(std::vector<MapEntry> entries);

  // Stores a slice of texts.
  Value Strings(const std::vector<std::string>& texts);

  // Returns the size of everything that is stored.
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
  std::deque<std::string> texts_;
  std::deque<std::vector<Value>> values_;
  std::deque<std::vector<MapEntry>> entries_;
};

}  // namespace pintle::gotemplate
