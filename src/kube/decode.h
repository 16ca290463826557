// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes objects of the API from JSON.

#include <utility>

#include "base/result.h"
#include "json/field_list.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// The readable part of an object, and why the rest could not be read.
template <typename T>
struct Unreadable {
  T readable_part;
  Error why;
};

template <Resource T>
Error ReadingError(Error why) {
  return std::move(why).While("reading a " + std::string(kResourceKind<T>.kind) + " of the API server");
}

// If the object has errors, `readable_part` gets the rest of it.
template <Resource T>
Result<T> Decode(json::Value document, T* readable_part = nullptr) {
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  auto outcome = report.ToResult();
  if (outcome) return object;
  if (readable_part != nullptr) *readable_part = std::move(object);
  return ReadingError<T>(std::move(outcome).error());
}

}  // namespace pintle::kube
