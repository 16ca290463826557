// SPDX-License-Identifier: Apache-2.0
#pragma once

// An amount of memory, processors or bytes as Kubernetes reads and writes it: "1.5Gi", "500m", "1e3".

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::generated {

// An amount that a 64-bit number of digits can hold, which is all that a machine can have.
struct Quantity {
  enum class Format { kDecimal, kBinary, kExponent };

  std::int64_t digits = 0;
  int exponent = 0;  // Of ten.
  Format format = Format::kDecimal;
};

// What is smaller than a billionth is rounded up.  The error is that of Kubernetes.
Result<Quantity> ParseQuantity(std::string_view text);

// The one way in which Kubernetes writes this amount: "1536Mi" for 1.5Gi, "500m" for 0.5.
std::string Canonical(const Quantity& quantity);

}  // namespace pintle::generated
