// SPDX-License-Identifier: Apache-2.0
#pragma once

// An object of some kind, for code that is the same for all kinds.
//
// Such code is compiled once, while a template over the structs of api/ is compiled for each of some fifty kinds.

#include <map>
#include <memory>
#include <utility>

#include "api/meta.h"
#include "json/field_list.h"
#include "json/report.h"
#include "json/value.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

class AnyObject {
 public:
  virtual ~AnyObject() = default;

  virtual const api::ObjectMeta& metadata() const = 0;
  // Fills this object, which has to be new.  If the report gets errors, the object has only the readable part.
  virtual void Decode(json::Value document, json::Report& report) = 0;
};

template <Resource T>
class ObjectOf final : public AnyObject {
 public:
  ObjectOf() = default;
  explicit ObjectOf(T to_keep) : object(std::move(to_keep)) {}

  const api::ObjectMeta& metadata() const override { return object.metadata; }
  void Decode(json::Value document, json::Report& report) override {
    json::DecodeInto(std::move(document), object, json::Path(), report);
  }

  T object{};
};

// Makes an empty object.
using ObjectMaker = std::unique_ptr<AnyObject> (*)();

template <Resource T>
std::unique_ptr<AnyObject> MakeObject() {
  return std::make_unique<ObjectOf<T>>();
}

// Returns the struct in an object, which must be an ObjectOf<T>.
template <Resource T>
const T& As(const AnyObject& object) {
  return static_cast<const ObjectOf<T>&>(object).object;
}
template <Resource T>
T& As(AnyObject& object) {
  return static_cast<ObjectOf<T>&>(object).object;
}

using AnyObjects = std::map<ObjectName, std::unique_ptr<AnyObject>>;

}  // namespace pintle::kube
