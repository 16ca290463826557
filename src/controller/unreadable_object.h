// SPDX-License-Identifier: Apache-2.0
#pragma once

// An object of the cluster that cannot be decoded.  Commands list all of them and go on with the other objects.

#include <string>
#include <vector>

#include "controller/overlaid_objects.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

struct UnreadableObject {
  kube::ResourceKind kind;
  kube::ObjectName name;
  std::string why;  // Contains the kind, the name and the field.
};

// Returns the reason and a remedy.
std::string TextAbout(const UnreadableObject& object);

// Returns the text about each object once, although several readers may have met the same object.
std::vector<std::string> TextsAbout(const std::vector<UnreadableObject>& objects);

// Returns a listener that adds the objects to `objects`, which has to outlive it.
UnreadableListener AddUnreadableTo(std::vector<UnreadableObject>& objects);

}  // namespace pintle::controller
