// SPDX-License-Identifier: Apache-2.0
#pragma once

// Objects of the API out of JSON.

#include <utility>

#include "base/result.h"
#include "json/fields.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// An object as far as it could be read, and what could not be.
template <typename T>
struct Unreadable {
  T as_far;
  Error why;
};

// `unreadable` gets what there is of an object with errors.
template <Resource T>
Result<T> Decode(json::Value document, T* unreadable = nullptr) {
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  auto outcome = report.ToResult();
  if (outcome) return object;
  if (unreadable != nullptr) *unreadable = std::move(object);
  return std::move(outcome).error().While("reading a " + std::string(kResourceKind<T>.kind) + " of the API server");
}

}  // namespace pintle::kube
