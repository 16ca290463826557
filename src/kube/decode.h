// SPDX-License-Identifier: Apache-2.0
#pragma once

// Objects of the API out of JSON.

#include <utility>

#include "base/result.h"
#include "json/fields.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

template <Resource T>
Result<T> Decode(json::Value document) {
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  TRY(report.ToResult(), "reading a " + std::string(kResourceKind<T>.kind) + " of the API server");
  return object;
}

}  // namespace pintle::kube
