// SPDX-License-Identifier: Apache-2.0
#pragma once

// This header defines how a function reports that it has failed.
//
// Anything that can fail returns Result<T>: a T, or an Error whose message names what was being done, outermost
// first, and the cause last.  TRY unwraps a Result or returns its error:
//
//     Bytes bytes = TRY(root.ReadFile(path), "reading the journal");

#include <cassert>
#include <cerrno>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace pintle {

// The kind of an error decides what callers do about it.  A kind exists only if some caller branches on it; all other
// details are in the message.
enum class ErrorKind {
  kInvalid,         // The input is wrong; trying again cannot help.
  kUnreconcilable,  // The config is valid, but this node must be reinstalled to get it.
  kUnconvertible,   // The input is valid, but the version of its format that we need cannot express it.
  kTooNew,          // A newer version of this program wrote the input, in a format that we do not know.
  kNotFound,
  kConflict,     // Someone else changed the object first: read again and retry.
  kUnavailable,  // A server or another program is down, slow or busy: retry with backoff.
  kCancelled,    // We were asked to stop.
  kSystem,       // The kernel or a library returned an error; see errno_value().
};

class Error {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  // Makes an error from an errno: "rename: No space left on device".
  static Error FromErrno(std::string_view call, int errno_value = errno);

  ErrorKind kind() const { return kind_; }
  int errno_value() const { return errno_; }  // 0 if the error was not made by FromErrno().
  const std::string& message() const { return message_; }

  // Prepends what we were doing: "writing /etc/motd: rename: No space left on device".
  Error While(std::string_view doing) &&;

 private:
  ErrorKind kind_;
  int errno_ = 0;
  std::string message_;
};

// The members have the names of std::expected, so that this class can become an alias of it once all compilers that we
// build with have a complete std::expected.  The oldest are those of Debian 12: g++ 12 and clang 14.
template <typename T = void>
class [[nodiscard]] Result {
 public:
  template <typename U = T>
  requires std::convertible_to<U&&, T> &&(!std::same_as<std::remove_cvref_t<U>, Error>)Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return failure(); }
  Error&& error() && { return std::move(failure()); }

 private:
  T& value() {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  Error& failure() {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  const Error& failure() const {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  void operator*() const { assert(has_value()); }

  const Error& error() const& {
    assert(!has_value());
    return *error_;
  }
  Error&& error() && {
    assert(!has_value());
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};

// TRY(expression) or TRY(expression, doing).  `doing` is evaluated only if there is an error.  An expression with a
// comma outside of parentheses, such as F<A, B>(), needs parentheses of its own.
#define TRY(...) PINTLE_TRY_PICK(__VA_ARGS__, PINTLE_TRY_WHILE, PINTLE_TRY_PLAIN, )(__COUNTER__, __VA_ARGS__)
#define PINTLE_TRY_PICK(first, second, name, ...) name
#define PINTLE_TRY_PLAIN(counter, expression) PINTLE_TRY(PINTLE_TRY_NAME(counter), expression, )
#define PINTLE_TRY_WHILE(counter, expression, doing) PINTLE_TRY(PINTLE_TRY_NAME(counter), expression, .While(doing))
// Each TRY gets a different variable, so that one TRY may stand inside another without shadowing it.
#define PINTLE_TRY_NAME(counter) PINTLE_TRY_NAME_(counter)
#define PINTLE_TRY_NAME_(counter) try_result_##counter
#define PINTLE_TRY(result, expression, while_doing)   \
  __extension__({                                     \
    auto result = (expression);                       \
    if (!result) [[unlikely]]                         \
      return ::std::move(result).error() while_doing; \
    *::std::move(result);                             \
  })

}  // namespace pintle
