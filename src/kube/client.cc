// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <fmt/core.h>

#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "event/loop.h"
#include "kube/eviction.h"
#include "kube/watch_decoder.h"

namespace pintle::kube {
namespace {

constexpr const char* kJson = "application/json";

// Reports an error from the loop, never from within the function that found it.
class Refusal final : public Work, public std::enable_shared_from_this<Refusal> {
 public:
  explicit Refusal(std::function<void()> report) : report_(std::move(report)) {}

  void Begin(event::Loop& loop) {
    loop.Post([weak = weak_from_this()] {
      if (const auto alive = weak.lock()) alive->report_();
    });
  }

 private:
  std::function<void()> report_;
};

template <typename T>
Call Refuse(event::Loop& loop, Error error, std::function<void(Result<T>)> done) {
  const auto refusal = std::make_shared<Refusal>([error = std::move(error), done = std::move(done)] { done(error); });
  refusal->Begin(loop);
  return Call(refusal);
}

}  // namespace

Result<Client> Client::Create(event::Loop& loop, Access access, ClientSettings settings) {
  return Client(TRY(Transport::Create(loop, std::move(access))), std::move(settings));
}

Client::Receive Client::ObjectTo(const ObjectName& name, DoneJson done) const {
  return [name, done = std::move(done), failed = settings_.failed](Fetched fetched) {
    if (const auto* const failure = std::get_if<Failure>(&fetched); failure != nullptr && failed) failed(*failure);
    done(ReadObject(name, std::move(fetched)));
  };
}

Client::Receive Client::SuccessTo(Done<void> done) const {
  return [done = std::move(done), failed = settings_.failed](Fetched fetched) {
    auto* const failure = std::get_if<Failure>(&fetched);
    if (failure == nullptr) return done({});
    if (failed) failed(*failure);
    done(std::move(failure->error));
  };
}

Call Client::ListObjects(const ResourceKind& kind, ObjectMaker make, Selection selection, Done<AnyObjects> done,
                         UnreadableObject unreadable) {
  const auto found = std::make_shared<AnyObjects>();
  const auto set_aside = [unreadable = std::move(unreadable)](const ObjectName& name, const Error& why) -> Result<> {
    if (!unreadable) return why;
    unreadable(name, why);
    return {};
  };
  return kube::List(transport_, kind, std::move(selection), settings_.patience,
                    {.begin = [found] { found->clear(); },
                     .item = [found, set_aside, make, &kind](json::Value document) -> Result<> {
                       const ObjectName name = NameIn(document);
                       auto object = make();
                       json::Report report;
                       object->Decode(std::move(document), report);
                       const auto outcome = DecodingOutcome(kind, report);
                       if (!outcome) return set_aside(name, outcome.error());
                       found->insert_or_assign(name, std::move(object));
                       return {};
                     },
                     .end =
                         [found, done = std::move(done)](std::variant<std::string, Failure> outcome) {
                           if (auto* const failure = std::get_if<Failure>(&outcome)) return done(failure->error);
                           done(std::move(*found));
                         },
                     .part = [set_aside](const json::Value& document, const Error& why) -> Result<> {
                       return set_aside(NameIn(document), why);
                     }});
}

Call Client::GetObject(const ResourceKind& kind, const ObjectName& name, DoneJson done) {
  auto path = ObjectPath(kind, name);
  if (!path) return Refuse(transport_->loop(), std::move(path).error(), std::move(done));
  return Fetch(transport_,
               {.path = *std::move(path), .doing = fmt::format("reading {} {}", kind.kind, name.ToString())},
               Repeatable::kYes, settings_.patience, ObjectTo(name, std::move(done)));
}

Call Client::CreateObject(const ResourceKind& kind, const ObjectName& name, const json::Value& object, DoneJson done) {
  auto path = CollectionPath(kind, name.namespace_name);
  if (!path) return Refuse(transport_->loop(), std::move(path).error(), std::move(done));
  ApiRequest request = {.method = "POST",
                        .path = *path + Query({{"fieldManager", settings_.field_manager}}),
                        .content_type = kJson,
                        .body = json::ToText(object),
                        .doing = fmt::format("creating {} {}", kind.kind, name.ToString()),
                        .has_secrets = IsSecret(kind)};
  return Fetch(transport_, std::move(request), Repeatable::kNo, settings_.patience, ObjectTo(name, std::move(done)));
}

Call Client::PatchObject(const ResourceKind& kind, const ObjectName& name, const kube::Patch& patch, Part part,
                         DoneJson done) {
  auto request = PatchRequest(kind, name, patch, part, settings_.field_manager);
  if (!request) return Refuse(transport_->loop(), std::move(request).error(), std::move(done));
  return Fetch(transport_, *std::move(request), RepeatableOf(patch), settings_.patience,
               ObjectTo(name, std::move(done)));
}

Call Client::AmendObject(const ResourceKind& kind, const ObjectName& name, Change change, Part part, DoneJson done) {
  return kube::AmendObject(transport_,
                           {.kind = kind,
                            .name = name,
                            .part = part,
                            .change = std::move(change),
                            .field_manager = settings_.field_manager,
                            .patience = settings_.patience,
                            .failed = settings_.failed},
                           std::move(done));
}

Call Client::DeleteObject(const ResourceKind& kind, const ObjectName& name, const std::string& uid, Done<void> done) {
  auto path = ObjectPath(kind, name);
  if (!path) return Refuse(transport_->loop(), std::move(path).error(), std::move(done));
  ApiRequest request = {
      .method = "DELETE", .path = *std::move(path), .doing = fmt::format("deleting {} {}", kind.kind, name.ToString())};
  if (!uid.empty()) {
    request.content_type = kJson;
    request.body = json::ToText({{"preconditions", {{"uid", uid}}}});
  }
  // If a repetition found the object already deleted, the caller would get kNotFound although its request deleted it.
  return Fetch(transport_, std::move(request), Repeatable::kNo, settings_.patience, SuccessTo(std::move(done)));
}

Call Client::Evict(const ObjectName& pod, const std::string& uid, Done<Eviction> done, EvictionMode mode) {
  auto path = ObjectPath(kResourceKind<api::Pod>, pod, "eviction");
  if (!path) return Refuse(transport_->loop(), std::move(path).error(), std::move(done));
  return EvictPod(transport_,
                  {.path = *std::move(path),
                   .pod = pod,
                   .uid = uid,
                   .mode = mode,
                   .patience = settings_.patience,
                   .failed = settings_.failed},
                  std::move(done));
}

}  // namespace pintle::kube
