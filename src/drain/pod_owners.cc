// SPDX-License-Identifier: Apache-2.0
#include "drain/pod_owners.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "api/meta.h"
#include "json/fields.h"
#include "kube/client.h"

namespace pintle::drain {
namespace {

// The fields that we read of an owner, whatever its kind.
struct ReplicatedObject {
  struct Spec {
    std::int32_t replicas = 1;

    static constexpr bool kLenient = true;
    static constexpr auto kFields = json::FieldList{json::Field{"replicas", &Spec::replicas}};
  };

  api::ObjectMeta metadata;
  Spec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &ReplicatedObject::metadata},
      json::Required{"spec", &ReplicatedObject::spec},
  };
};

struct ReplicaSet : ReplicatedObject {};
struct StatefulSet : ReplicatedObject {};
struct ReplicationController : ReplicatedObject {};

}  // namespace
}  // namespace pintle::drain

template <>
inline constexpr pintle::kube::ResourceKind pintle::kube::kResourceKind<pintle::drain::ReplicaSet> = {
    "apps", "v1", "replicasets", "ReplicaSet", Scope::kNamespaced};
template <>
inline constexpr pintle::kube::ResourceKind pintle::kube::kResourceKind<pintle::drain::StatefulSet> = {
    "apps", "v1", "statefulsets", "StatefulSet", Scope::kNamespaced};
template <>
inline constexpr pintle::kube::ResourceKind pintle::kube::kResourceKind<pintle::drain::ReplicationController> = {
    "", "v1", "replicationcontrollers", "ReplicationController", Scope::kNamespaced};

namespace pintle::drain {
namespace {

using Done = std::function<void(Result<std::int32_t>)>;

template <kube::Resource T>
constexpr std::string_view kKind = kube::kResourceKind<T>.kind;

template <kube::Resource T>
kube::Call Ask(kube::Client& client, const PodOwner& owner, Done done) {
  return client.Get<T>(owner.name, [owner, done = std::move(done)](const Result<T>& found) {
    if (!found) return done(Error(found.error()));
    if (found->metadata.uid == owner.uid) return done(found->spec.replicas);
    done(Error(ErrorKind::kNotFound, fmt::format("{} {} was replaced", owner.kind, owner.name.ToString())));
  });
}

}  // namespace

std::optional<PodOwner> PodOwnerOf(const api::Pod& pod) {
  for (const api::OwnerReference& owner : pod.metadata.owner_references) {
    const bool makes_pods = owner.kind == kKind<ReplicaSet> || owner.kind == kKind<StatefulSet> ||
                            owner.kind == kKind<ReplicationController>;
    if (owner.controller.value_or(false) && makes_pods) {
      return PodOwner{owner.kind, {pod.metadata.namespace_name, owner.name}, owner.uid};
    }
  }
  return std::nullopt;
}

kube::Call GetReplicas(kube::Client& client, const PodOwner& owner, Done done) {
  if (owner.kind == kKind<ReplicaSet>) return Ask<ReplicaSet>(client, owner, std::move(done));
  if (owner.kind == kKind<StatefulSet>) return Ask<StatefulSet>(client, owner, std::move(done));
  return Ask<ReplicationController>(client, owner, std::move(done));
}

}  // namespace pintle::drain
