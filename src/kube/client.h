// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends single requests to the API server.  For a copy of objects that is kept current, see Mirror.
//
// All functions are asynchronous and run on the loop's thread: a callback is called from the loop, once, unless the
// returned Call is destroyed before.  Requests that can safely be repeated are repeated during a short outage of the
// server.
//
// Objects are changed only by patches.  Writing back a whole object would drop all fields that its struct does not
// have.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/field_list.h"
#include "kube/any_object.h"
#include "kube/attempts.h"
#include "kube/decode.h"
#include "kube/eviction.h"
#include "kube/list.h"
#include "kube/patch.h"
#include "kube/resource_kind.h"
#include "kube/transport.h"

namespace pintle::kube {

struct ClientSettings {
  // The API server records under this name which fields are ours.
  std::string field_manager = "pintle";
  Patience patience = {};
  // Called with each failure, except those of List(), right before the caller gets the Error of that failure.  The
  // Error alone does not have the failure's details.
  std::function<void(const Failure& failure)> failed = {};
};

class Client {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  static Result<Client> Create(event::Loop& loop, Access access, ClientSettings settings = {});

  // Returns a client whose writes the API server records under another name.
  Client As(std::string field_manager) const {
    Client copy = *this;
    copy.settings_.field_manager = std::move(field_manager);
    return copy;
  }

  // Returns a client for a caller with its own back-off: nothing is repeated, and `failed` gets each failure.
  Client Once(std::function<void(const Failure& failure)> failed) const { return Trying(1, std::move(failed)); }

  // Returns a client that makes up to this many attempts for each request.  The attempts bridge a short outage of the
  // server, for a caller whose own back-off has longer intervals.
  Client Trying(int attempts, std::function<void(const Failure& failure)> failed) const {
    Client copy = *this;
    copy.settings_.patience.attempts = attempts;
    copy.settings_.failed = std::move(failed);
    return copy;
  }

  template <Resource T>
  Call Get(const ObjectName& name, Done<T> done) {
    return GetObject(kResourceKind<T>, name, Decoding<T>(std::move(done)));
  }

  // Reads all objects once; see Mirror for a copy that is kept current.  `unreadable` gets the names of objects that
  // cannot be decoded, and these are left out; without it, one such object fails the whole list.
  using UnreadableObject = std::function<void(const ObjectName& name, const Error& why)>;
  template <Resource T>
  Call List(Selection selection, Done<std::vector<T>> done, UnreadableObject unreadable = {});

  // Creates an object with the name in its metadata.  If an object of this name exists already, the error is kConflict.
  template <Resource T>
  Call Create(const T& object, Done<T> done) {
    return CreateObject(kResourceKind<T>, NameOf(object.metadata), json::Encode(object), Decoding<T>(std::move(done)));
  }

  // `done` gets the patched object.
  template <Resource T>
  Call Patch(const ObjectName& name, const kube::Patch& patch, Done<T> done, Part part = Part::kObject) {
    return PatchObject(kResourceKind<T>, name, patch, part, Decoding<T>(std::move(done)));
  }

  // Changes an object: `change` gets its current state and returns a merge patch, or nullopt if there is nothing
  // to change.  `change` is called again if somebody else has changed the object in between; the ninth such conflict is
  // returned as an error.  A patch that the server accepts and does not keep is an error, too.
  template <Resource T>
  Call Amend(const ObjectName& name, std::function<std::optional<json::Value>(const T& now)> change, Done<T> done,
             Part part = Part::kObject);

  // If there is no object of this name, the error is kNotFound.  With a uid, an object of the same name but another uid
  // is not deleted; the error is then kConflict.
  template <Resource T>
  Call Delete(const ObjectName& name, const std::string& uid, Done<void> done) {
    return DeleteObject(kResourceKind<T>, name, uid, std::move(done));
  }

  // Evicts a pod: the server deletes the pod if its disruption budget allows that.
  Call Evict(const ObjectName& pod, const std::string& uid, Done<Eviction> done,
             EvictionMode mode = EvictionMode::kEvict);

  const std::shared_ptr<Transport>& transport() const { return transport_; }

 private:
  using DoneJson = Done<json::Value>;
  using Receive = std::function<void(Fetched fetched)>;

  Client(std::shared_ptr<Transport> transport, ClientSettings settings)
      : transport_(std::move(transport)), settings_(std::move(settings)) {}

  template <Resource T>
  static DoneJson Decoding(Done<T> done) {
    return [done = std::move(done)](Result<json::Value> object) {
      if (!object) return done(std::move(object).error());
      done(Decode<T>(*std::move(object)));
    };
  }

  // These make a callback that passes the object in the answer, or only the success, to `done`.  A failure is passed to
  // `failed`, and then to `done` as an Error.
  Receive ObjectTo(const ObjectName& name, DoneJson done) const;
  Receive SuccessTo(Done<void> done) const;
  Call ListObjects(const ResourceKind& kind, ObjectMaker make, Selection selection, Done<AnyObjects> done,
                   UnreadableObject unreadable);
  Call GetObject(const ResourceKind& kind, const ObjectName& name, DoneJson done);
  Call CreateObject(const ResourceKind& kind, const ObjectName& name, const json::Value& object, DoneJson done);
  Call PatchObject(const ResourceKind& kind, const ObjectName& name, const kube::Patch& patch, Part part,
                   DoneJson done);
  Call AmendObject(const ResourceKind& kind, const ObjectName& name, Change change, Part part, DoneJson done);
  Call DeleteObject(const ResourceKind& kind, const ObjectName& name, const std::string& uid, Done<void> done);

  std::shared_ptr<Transport> transport_;
  ClientSettings settings_;
};

template <Resource T>
Call Client::List(Selection selection, Done<std::vector<T>> done, UnreadableObject unreadable) {
  auto take = [done = std::move(done)](Result<AnyObjects> found) {
    if (!found) return done(std::move(found).error());
    std::vector<T> objects;
    objects.reserve(found->size());
    for (const auto& [name, object] : *found) objects.push_back(std::move(kube::As<T>(*object)));
    done(std::move(objects));
  };
  return ListObjects(kResourceKind<T>, MakeObject<T>, std::move(selection), std::move(take), std::move(unreadable));
}

template <Resource T>
Call Client::Amend(const ObjectName& name, std::function<std::optional<json::Value>(const T& now)> change, Done<T> done,
                   Part part) {
  const auto decoded = [change = std::move(change)](const json::Value& now) -> Result<std::optional<json::Value>> {
    return change(TRY(Decode<T>(now)));
  };
  return AmendObject(kResourceKind<T>, name, decoded, part, Decoding<T>(std::move(done)));
}

}  // namespace pintle::kube
