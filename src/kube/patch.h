// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changes a part of an object that others may change at the same time.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "kube/attempts.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// RFC 7386: the members of `body` are set in the object; a member that is null is removed from the object.  With
// metadata.resourceVersion, the patch is refused (kConflict) if the object has another version.
struct MergePatch {
  json::Value body;
};

// RFC 6902: a list of operations, of which all are done or none.
struct JsonPatch {
  json::Value operations;
};

// Server-side apply: each time, `object` has all fields that we manage, and a field that we leave out is removed.
// Only the kind and the name of the object may be left out.
struct ApplyPatch {
  // Decides what happens to fields that another manager has set to another value.
  enum class Conflicts { kRefuse, kTakeOver };
  json::Value object;
  Conflicts conflicts = Conflicts::kRefuse;
};

using Patch = std::variant<MergePatch, JsonPatch, ApplyPatch>;

// A status is patched separately from the rest of the object.
enum class Part { kObject, kStatus };

// Returns the request that sends a patch under the name `field_manager`.
Result<ApiRequest> PatchRequest(const ResourceKind& kind, const ObjectName& name, const Patch& patch, Part part,
                                const std::string& field_manager);

// Returns kYes for a merge patch or an apply without a resourceVersion, because repeating it has no further effect.
// Returns kNo for other patches: the first patch changes the resourceVersion, so a second one with the old version
// would be refused, and a second JSON patch may change the object again.
Repeatable RepeatableOf(const Patch& patch);

// Gets the current object and returns a merge patch, or nullopt if there is nothing to change.
using Change = std::function<Result<std::optional<json::Value>>(const json::Value& now)>;
struct Amendment {
  ResourceKind kind;
  ObjectName name;
  Part part = Part::kObject;
  Change change;
  std::string field_manager;
  Patience patience;
  std::function<void(const Failure& failure)> failed = {};
};
// Reads the object, calls `change`, patches, and starts over on a conflict, up to eight times.  If the object still has
// the same version after a conflict, nobody else has changed it: the server has refused the patch for another reason,
// and that error is returned.  If `change` still wants a change of the object in the server's answer, the server has
// not kept the patch, and the error is UnkeptError().
Call AmendObject(std::shared_ptr<Transport> transport, Amendment amendment,
                 std::function<void(Result<json::Value>)> done);

// Returns the object in an answer.  It must be the requested object: a mirror would take another one for a new
// state.
Result<json::Value> ReadObject(const ObjectName& name, Fetched fetched);

}  // namespace pintle::kube
