// SPDX-License-Identifier: Apache-2.0
#pragma once

// Assertions about Results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <utility>

#include "base/result.h"

namespace pintle {

inline void PrintTo(const Error& error, std::ostream* out) { *out << "error: " << error.message(); }

template <typename T>
testing::AssertionResult Succeeded(const Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result.error().message();
}

// Returns the message of the expected error; without an error, the test fails.
template <typename T>
std::string MessageOf(const Result<T>& result) {
  if (!result) return result.error().message();
  ADD_FAILURE() << "there was no error";
  return "";
}

// Returns the expected value; if there is an error instead, the test fails and ends.
template <typename T>
T ValueOf(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());  // GoogleTest reports an exception as a failure.
  return *std::move(result);
}

}  // namespace pintle
