// SPDX-License-Identifier: Apache-2.0
#include "generated/quantity.h"

#include <gtest/gtest.h>

namespace pintle::generated {
namespace {

struct QuantityCase {
  const char* text;
  const char* canonical;  // Or the error.
};

std::string RewrittenQuantity(const char* text) {
  const Result<Quantity> quantity = ParseQuantity(text);
  return quantity ? Canonical(*quantity) : quantity.error().message();
}

TEST(Quantity, HasOneWayOfBeingWritten) {
  constexpr const char* kFormat =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const QuantityCase cases[] = {
      {"0", "0"},
      {"0Mi", "0"},
      {"1Gi", "1Gi"},
      {"1024Mi", "1Gi"},
      {"1.5Gi", "1536Mi"},
      {"1100Mi", "1100Mi"},
      {"1000Ki", "1000Ki"},
      {"0.5Ki", "512"},
      {"-2Gi", "-2Gi"},
      {"0.1Ki", "102400m"},
      {"0.5", "500m"},
      {"500m", "500m"},
      {"1000m", "1"},
      {"1500m", "1500m"},
      {"8G", "8G"},
      {"8000M", "8G"},
      {"12345", "12345"},
      {"100000", "100k"},
      {"1e3", "1e3"},
      {"1E4", "10e3"},
      {"15e-1", "1500e-3"},
      {"1E", "1E"},
      {"0.1n", "1n"},
      {"+3", "3"},
      {"", kFormat},
      {"Gi", kFormat},
      {"1.2.3", kFormat},
      {"5GB", "unable to parse quantity's suffix"},
      {"5e", "unable to parse quantity's suffix"},
      {"99999999999999999999", "unable to parse numeric part of quantity"},
  };
  for (const QuantityCase& c : cases) EXPECT_EQ(RewrittenQuantity(c.text), c.canonical) << c.text;
}

}  // namespace
}  // namespace pintle::generated
