// SPDX-License-Identifier: Apache-2.0
#pragma once

// A JSON value: null, true or false, a number, a text, a list or an object.
//
// It is our own because nearly every file of ours sees it: its header costs the compiler a sixth of what that of a
// whole JSON library costs, and a value has 16 bytes as there.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pintle::json {

class Value {
 public:
  // Keys are in the order of their bytes.
  using Object = std::map<std::string, Value, std::less<>>;
  using Array = std::vector<Value>;

  enum class Type : std::uint8_t {
    kNull,
    kBoolean,
    kInteger,   // A whole number as std::int64_t.
    kUnsigned,  // A whole number as std::uint64_t: the parser takes it for each that has no minus sign.
    kReal,
    kString,
    kArray,
    kObject
  };

  Value() noexcept {}
  Value(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): as are those below.
  template <std::same_as<bool> T>    // A pointer is no truth.
  Value(T boolean) noexcept : type_(Type::kBoolean), boolean_(boolean) {}
  template <std::signed_integral T>
  Value(T number) noexcept : type_(Type::kInteger), integer_(number) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Value(T number)
  noexcept : type_(Type::kUnsigned), unsigned_(number) {}
  Value(double number) noexcept : type_(Type::kReal), real_(number) {}
  Value(const char* text);
  Value(std::string_view text);
  Value(std::string text);
  Value(Array array);
  Value(Object object);
  // {{"key", value}, ...} is an object: all elements are pairs that begin with a text.  Any other list is a list.
  Value(std::initializer_list<Value> elements);

  Value(const Value& other);
  Value(Value&& other) noexcept { Swap(other); }
  Value& operator=(Value other) noexcept {
    Swap(other);
    return *this;
  }
  ~Value() {
    if (type_ >= Type::kString) Free();
  }

  // An empty list or object, or a list of these elements whatever they are.
  static Value array(std::initializer_list<Value> elements = {});
  static Value object();

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::kNull; }
  bool is_boolean() const { return type_ == Type::kBoolean; }
  bool is_integer() const { return type_ == Type::kInteger || type_ == Type::kUnsigned; }
  bool is_unsigned() const { return type_ == Type::kUnsigned; }
  bool is_number() const { return is_integer() || type_ == Type::kReal; }
  bool is_string() const { return type_ == Type::kString; }
  bool is_array() const { return type_ == Type::kArray; }
  bool is_object() const { return type_ == Type::kObject; }
  bool is_structured() const { return is_array() || is_object(); }

  // What it holds.  Whoever asks for what it does not hold has made a mistake, and the program ends.
  bool boolean() const;
  std::int64_t integer() const;  // Of a number of any type, as a cast has it.
  std::uint64_t unsigned_integer() const;
  double real() const;
  const std::string& text() const&;
  std::string& text() &;
  std::string text() &&;
  const Array& elements() const&;
  Array& elements() &;
  Array elements() &&;
  const Object& members() const&;
  Object& members() &;
  Object members() &&;

  // A member of an object; nullptr if it has none of that name, or is no object.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);
  // One below members of members.
  const Value* Find(std::initializer_list<std::string_view> keys) const;
  // The text that is there; empty if there is none.
  const std::string& TextAt(std::initializer_list<std::string_view> keys) const;
  bool contains(std::string_view key) const { return Find(key) != nullptr; }
  // The member, which is made if there is none; null becomes an object.
  Value& operator[](std::string_view key);
  // The member, or null.
  const Value& operator[](std::string_view key) const;
  // The member, which has to be there, as what is asked for above.
  const Value& at(std::string_view key) const;
  // Whether there was such a member.
  bool Erase(std::string_view key);

  // The elements of a list; a value that is no list, such as an object, has none.
  Value* begin();
  Value* end();
  const Value* begin() const;
  const Value* end() const;
  Value& operator[](std::size_t index) { return elements()[index]; }
  const Value& operator[](std::size_t index) const { return elements()[index]; }
  const Value& at(std::size_t index) const;
  // At the end of a list; null becomes a list.
  Value& push_back(Value element);

  // Of a list its elements, of an object its members.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  // Numbers are equal if they are so as numbers, whatever their types.
  bool operator==(const Value& other) const;

 private:
  void Swap(Value& other) noexcept;
  void Free() noexcept;

  Type type_ = Type::kNull;
  union {
    std::uint64_t unsigned_ = 0;
    std::int64_t integer_;
    bool boolean_;
    double real_;
    std::string* string_;
    Array* array_;
    Object* object_;
  };
};

// For a test that failed.
void PrintTo(const Value& value, std::ostream* out);

}  // namespace pintle::json
