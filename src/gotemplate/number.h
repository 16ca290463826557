// SPDX-License-Identifier: Apache-2.0
#pragma once

// Constants.  A constant has every type that can hold it until it is used as one of them.

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

Result<Number> ReadNumber(std::string_view text);
// A complex number: 1+2i
Result<Number> ReadComplex(std::string_view text);
// A character: 'x'
Result<Number> ReadCharacter(std::string_view text);

}  // namespace pintle::gotemplate
