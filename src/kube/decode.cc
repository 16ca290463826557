// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.h"

#include <fmt/core.h>

namespace pintle::kube {

Error DecodingError(const ResourceKind& kind, Error why) {
  return std::move(why).While(fmt::format("decoding a {} from the API server", kind.kind));
}

Result<> DecodingOutcome(const ResourceKind& kind, const json::Report& report) {
  auto outcome = report.ToResult();
  if (outcome) return outcome;
  return DecodingError(kind, std::move(outcome).error());
}

}  // namespace pintle::kube
