// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the API server's answers to writes until the mirror has them, too.
//
// A mirror may lag by seconds.  A decision from the mirror alone would miss the latest writes, and so repeat a write or
// update one node too many.

#include <map>
#include <memory>
#include <utility>

#include "kube/any_object.h"
#include "kube/resource_kind.h"
#include "kube/resource_version.h"

namespace pintle::controller {

using kube::IsLater;

// The answers for one kind.
class WriteAnswers {
 public:
  void Put(std::unique_ptr<kube::AnyObject> answered) {
    kube::ObjectName name = kube::NameOf(answered->metadata());
    answered_.insert_or_assign(std::move(name), std::move(answered));
  }

  // Returns the answer about an object if one is still kept, or else the mirrored object.
  const kube::AnyObject& LatestOf(const kube::AnyObject& mirrored) const {
    const auto found = answered_.find(kube::NameOf(mirrored.metadata()));
    return found == answered_.end() ? mirrored : *found->second;
  }

  // Must be called when the mirror has a new version of the object.
  void Mirrored(const kube::AnyObject& now) {
    const auto found = answered_.find(kube::NameOf(now.metadata()));
    if (found == answered_.end()) return;
    if (!IsLater(found->second->metadata().resource_version, now.metadata().resource_version)) answered_.erase(found);
  }

  // Must be called when the mirror has removed the object.
  void Gone(const kube::ObjectName& name) { answered_.erase(name); }

 private:
  std::map<kube::ObjectName, std::unique_ptr<kube::AnyObject>> answered_;
};

}  // namespace pintle::controller
