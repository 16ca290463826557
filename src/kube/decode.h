// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes objects of the API from JSON.

#include <utility>

#include "base/result.h"
#include "json/field_list.h"
#include "json/report.h"
#include "json/value.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// Adds to an error that it was found while an object of this kind was decoded.
Error DecodingError(const ResourceKind& kind, Error why);

// Returns the errors of `report` as one error about an object of this kind; success if there are none.
Result<> DecodingOutcome(const ResourceKind& kind, const json::Report& report);

template <Resource T>
Result<T> Decode(json::Value document) {
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  TRY(DecodingOutcome(kResourceKind<T>, report));
  return object;
}

}  // namespace pintle::kube
