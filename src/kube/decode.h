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

// Adds to an error that it was found when an object of this kind was decoded.
Error ReadingError(const ResourceKind& kind, Error why);

// Returns the errors of `report` as one error about an object of this kind; success if there are none.
Result<> ReadingOutcome(const ResourceKind& kind, const json::Report& report);

template <Resource T>
Result<T> Decode(json::Value document) {
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  TRY(ReadingOutcome(kResourceKind<T>, report));
  return object;
}

}  // namespace pintle::kube
