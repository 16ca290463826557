// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads numeric constants.  As in Go, a constant has no type until it is used: a Number has the value in each type that
// can hold the value.

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace pintle::gotemplate {

struct Number {
  std::optional<std::int64_t> integer;
  std::optional<std::uint64_t> unsigned_integer;
  std::optional<double> real;
  std::optional<std::complex<double>> complex;
};

// Reads an integer, a floating-point number, or an imaginary number such as 2i.
Result<Number> ReadNumber(std::string_view text);
// Reads a complex number, such as 1+2i.
Result<Number> ReadComplex(std::string_view text);
// Reads a character, such as 'x'.
Result<Number> ReadCharacter(std::string_view text);

}  // namespace pintle::gotemplate
