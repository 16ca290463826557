// SPDX-License-Identifier: Apache-2.0
#pragma once

// A JSON value: null, a boolean, a number, a string, a list or an object.
//
// We have a class of our own because nearly every file includes this header, which compiles in a sixth of the time of
// nlohmann/json.hpp.  A value takes 16 bytes, as in that library.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pintle::json {

class Value {
 public:
  // Keys are sorted by their bytes.
  using Object = std::map<std::string, Value, std::less<>>;
  using Array = std::vector<Value>;

  enum class Type : std::uint8_t {
    kNull,
    kBoolean,
    kInteger,   // A whole number as std::int64_t.
    kUnsigned,  // A whole number as std::uint64_t; the parser uses it for all numbers without a minus sign.
    kReal,
    kString,
    kArray,
    kObject
  };

  Value() noexcept {}
  Value(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): the constructors below are also implicit.
  template <std::same_as<bool> T>    // A pointer must not convert to a boolean.
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
  // {{"key", value}, ...} is an object if all elements are pairs that begin with a string; any other list stays a list.
  class Element;
  Value(std::initializer_list<Element> elements);
  // `Value{value}` is a list of one value for GCC, and a copy of the value for clang: use Value::array({value}).
  template <std::same_as<Value> T>
  Value(std::initializer_list<T> elements) = delete;

  Value(const Value& other);
  Value(Value&& other) noexcept { Swap(other); }
  Value& operator=(Value other) noexcept {
    Swap(other);
    return *this;
  }
  ~Value() {
    if (type_ >= Type::kString) Free();
  }

  // array() makes a list of its elements, even if all are pairs; object() makes an empty object.
  static Value array(std::initializer_list<Element> elements = {});
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

  // Each of these ends the program if the value has another type, because that is a bug in the caller.
  bool boolean() const;
  // These three accept a number of any type, and cast it.  A real number that does not fit becomes the nearest number
  // that does, and one that is not a number becomes 0.
  std::int64_t integer() const;
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

  // Returns a member, or nullptr if there is no such member or the value is not an object.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);
  // Returns the member at the end of a path of keys, or nullptr if there is none.
  const Value* Find(std::initializer_list<std::string_view> keys) const;
  // Returns the string at the end of a path of keys, or "" if there is none.
  const std::string& TextAt(std::initializer_list<std::string_view> keys) const;
  bool contains(std::string_view key) const { return Find(key) != nullptr; }
  // Returns the member, which is created if it does not exist.  Null becomes an object.
  Value& operator[](std::string_view key);
  // Returns the member, or a null value if there is no such member.
  const Value& operator[](std::string_view key) const;
  // Returns the member, which must exist.
  const Value& at(std::string_view key) const;
  // Removes a member.  Returns whether it existed.
  bool Erase(std::string_view key);

  // Iterate over the elements of a list.  A value that is not a list, such as an object, has no elements.
  Value* begin();
  Value* end();
  const Value* begin() const;
  const Value* end() const;
  Value& operator[](std::size_t index) { return elements()[index]; }
  const Value& operator[](std::size_t index) const { return elements()[index]; }
  const Value& at(std::size_t index) const;
  // Appends to a list.  Null becomes a list.
  Value& push_back(Value element);

  // Returns the number of elements or members.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  // Numbers of different types are equal if their values are.
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

// An element of a list in braces.  If the elements were Values, {value} inside of other braces would be a copy of the
// value; an Element makes it a list of one value.
class Value::Element {
 public:
  Element() noexcept {}
  template <std::convertible_to<Value> T>
  requires(!std::same_as<std::remove_cvref_t<T>, Element>) Element(T&& value) : value_(std::forward<T>(value)) {}
  Element(std::initializer_list<Element> elements) : value_(elements) {}

 private:
  friend class Value;

  Value value_;
};

// GoogleTest calls this to print the values of a failed test.
void PrintTo(const Value& value, std::ostream* out);

}  // namespace pintle::json
