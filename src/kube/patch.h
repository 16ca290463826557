// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ways to change a part of an object, and to do so although others change it too.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "kube/attempts.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// RFC 7386: what it names is set, and null takes away.  With metadata.resourceVersion it is refused (kConflict) when
// the object is no longer that one.
struct MergePatch {
  json::Value body;
};

// RFC 6902: a list of operations, all or none.
struct JsonPatch {
  json::Value operations;
};

// Server-side apply: the fields that are ours, all of them each time.  One that we no longer name is taken away.  The
// object need not say its kind and name.
struct ApplyPatch {
  // What to do about a field that another manager has set to something else.
  enum class Conflicts { kRefuse, kTakeOver };
  json::Value object;
  Conflicts conflicts = Conflicts::kRefuse;
};

using Patch = std::variant<MergePatch, JsonPatch, ApplyPatch>;

// A status is changed by itself, and nothing else with it.
enum class Part { kObject, kStatus };

Result<ApiRequest> PatchRequest(const ResourceKind& kind, const ObjectName& name, const Patch& patch, Part part,
                                const std::string& field_manager);

// A second merge patch or apply does what the first did, unless it names the resourceVersion that the first has
// changed.
Repeatable IsRepeatable(const Patch& patch);

// Reads what is there, asks what to change, patches, and begins anew on a conflict.  A conflict with nobody, since the
// object is as it was, is a refusal by that name.
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
Call AmendObject(std::shared_ptr<Transport> transport, Amendment amendment,
                 std::function<void(Result<json::Value>)> done);

// The object that an answer holds.  It must be the one that was asked for: a mirror would take another for a new state.
Result<json::Value> ReadObject(const ObjectName& name, Fetched fetched);

}  // namespace pintle::kube
