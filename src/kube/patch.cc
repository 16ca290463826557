// SPDX-License-Identifier: Apache-2.0
#include "kube/patch.h"

#include <fmt/core.h>

#include <utility>

#include "base/printable.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/unkept.h"
#include "kube/watch_decoder.h"

namespace pintle::kube {
namespace {

// After this many conflicts with other writers, one more makes the patch fail.
constexpr int kConflictsEndured = 8;
// No object has a longer name.
constexpr std::size_t kLongestName = 600;

// Another writer of the same object is usually done soon.
constexpr Backoff::Settings kAfterConflict = {
    .first = std::chrono::milliseconds(10), .longest = std::chrono::seconds(1), .jitter = 1};

struct Form {
  std::string content_type;
  std::string body;
  std::string force;
};

// The server requires kind and name in an applied object as well.
json::Value Named(json::Value object, const ResourceKind& kind, const ObjectName& name) {
  object["apiVersion"] = ApiVersion(kind);
  object["kind"] = std::string(kind.kind);
  object["metadata"]["name"] = name.name;
  if (!name.namespace_name.empty()) object["metadata"]["namespace"] = name.namespace_name;
  return object;
}

Form FormOf(const Patch& patch, const ResourceKind& kind, const ObjectName& name) {
  if (const auto* merge = std::get_if<MergePatch>(&patch)) {
    return {"application/merge-patch+json", json::ToText(merge->body), ""};
  }
  if (const auto* operations = std::get_if<JsonPatch>(&patch)) {
    return {"application/json-patch+json", json::ToText(operations->operations), ""};
  }
  const auto& apply = std::get<ApplyPatch>(patch);
  // JSON is YAML.
  return {"application/apply-patch+yaml", json::ToText(Named(apply.object, kind, name)),
          apply.conflicts == ApplyPatch::Conflicts::kTakeOver ? "true" : ""};
}

class Amender final : public Work, public std::enable_shared_from_this<Amender> {
 public:
  Amender(std::shared_ptr<Transport> transport, Amendment amendment, std::function<void(Result<json::Value>)> done)
      : transport_(std::move(transport)),
        amendment_(std::move(amendment)),
        done_(std::move(done)),
        backoff_(kAfterConflict, amendment_.patience.random),
        again_(
            transport_->loop(), [this] { Read(); }, kRetrySlack) {}

  void Begin() {
    // Read() runs from the loop, so that even an error about an invalid name is never reported from within this call.
    transport_->loop().Post([weak = weak_from_this()] {
      if (const auto alive = weak.lock()) alive->Read();
    });
  }

 private:
  void Read() {
    auto path = ObjectPath(amendment_.kind, amendment_.name);
    if (!path) return End(std::move(path).error());
    Send({.path = *std::move(path), .doing = fmt::format("reading {} {}", amendment_.kind.kind, Name())},
         Repeatable::kYes, &Amender::Found);
  }

  void Found(Result<json::Value> now) {
    if (!now) return End(std::move(now));
    Result<std::optional<json::Value>> patch = amendment_.change(*now);
    if (is_dropped()) return;
    if (!patch) return End(std::move(patch).error());
    if (!*patch) return End(std::move(now));
    const std::string version = ResourceVersionOf(*now);
    if (conflict_ && version == version_) return End(*std::move(conflict_));
    version_ = version;
    (**patch)["metadata"]["resourceVersion"] = version;
    auto request = PatchRequest(amendment_.kind, amendment_.name, MergePatch{**std::move(patch)}, amendment_.part,
                                amendment_.field_manager);
    if (!request) return End(std::move(request).error());
    Send(*std::move(request), Repeatable::kNo, &Amender::Patched);
  }

  void Patched(Result<json::Value> now) {
    const bool has_conflict = !now && now.error().kind() == ErrorKind::kConflict;
    if (has_conflict && ++conflicts_ <= kConflictsEndured) {
      conflict_ = std::move(now).error();
      return again_.After(backoff_.Next());
    }
    if (!now) return End(std::move(now));
    const Result<std::optional<json::Value>> left = amendment_.change(*now);
    if (is_dropped()) return;
    if (!left) return End(Error(left.error()));
    if (!*left) return End(std::move(now));
    End(UnkeptError().While(fmt::format("patching {} {}", amendment_.kind.kind, Name())));
  }

  void Send(ApiRequest request, Repeatable repeatable, void (Amender::*then)(Result<json::Value>)) {
    call_ = Fetch(transport_, std::move(request), repeatable, amendment_.patience,
                  [weak = weak_from_this(), then](Fetched fetched) {
                    if (const auto alive = weak.lock()) alive->Answered(std::move(fetched), then);
                  });
  }

  void Answered(Fetched fetched, void (Amender::*then)(Result<json::Value>)) {
    const auto* const failure = std::get_if<Failure>(&fetched);
    if (failure != nullptr && amendment_.failed) amendment_.failed(*failure);
    (this->*then)(ReadObject(amendment_.name, std::move(fetched)));
  }

  void End(Result<json::Value> outcome) {
    const auto done = std::exchange(done_, {});
    done(std::move(outcome));
  }

  std::string Name() const { return amendment_.name.ToString(); }

  std::shared_ptr<Transport> transport_;
  Amendment amendment_;
  std::function<void(Result<json::Value>)> done_;
  Backoff backoff_;
  event::Timer again_;
  int conflicts_ = 0;
  std::string version_;            // The version that the last patch was based on.
  std::optional<Error> conflict_;  // The latest conflict.
  Call call_;
};

}  // namespace

Result<ApiRequest> PatchRequest(const ResourceKind& kind, const ObjectName& name, const Patch& patch, Part part,
                                const std::string& field_manager) {
  Form form = FormOf(patch, kind, name);
  const std::string path = TRY(ObjectPath(kind, name, part == Part::kStatus ? "status" : ""));
  return ApiRequest{
      .method = "PATCH",
      .path = path + Query({{"fieldManager", field_manager}, {"force", form.force}}),
      .content_type = std::move(form.content_type),
      .body = std::move(form.body),
      .doing =
          fmt::format("patching {}{} {}", part == Part::kStatus ? "the status of " : "", kind.kind, name.ToString()),
      .has_secrets = IsSecret(kind),
  };
}

Repeatable RepeatableOf(const Patch& patch) {
  if (std::holds_alternative<JsonPatch>(patch)) return Repeatable::kNo;
  const auto* merge = std::get_if<MergePatch>(&patch);
  const json::Value& body = merge != nullptr ? merge->body : std::get<ApplyPatch>(patch).object;
  return ResourceVersionOf(body).empty() ? Repeatable::kYes : Repeatable::kNo;
}

Call AmendObject(std::shared_ptr<Transport> transport, Amendment amendment,
                 std::function<void(Result<json::Value>)> done) {
  const auto amender = std::make_shared<Amender>(std::move(transport), std::move(amendment), std::move(done));
  amender->Begin();
  return Call(amender);
}

Result<json::Value> ReadObject(const ObjectName& name, Fetched fetched) {
  if (auto* const failure = std::get_if<Failure>(&fetched)) return std::move(failure->error);
  json::Value object = TRY(json::Parse(std::get<std::string>(fetched), nullptr, kObjectLimits), "reading the answer");
  if (object.TextAt({"kind"}) == "Status") {
    return Error(ErrorKind::kUnavailable,
                 fmt::format("the answer about {} is a Status instead of the object", name.ToString()));
  }
  const ObjectName found = NameIn(object);
  if (found.name.empty() || found.name == name.name) return object;
  return Error(ErrorKind::kUnavailable, fmt::format("the answer to a request for {} is the object {}", name.ToString(),
                                                    Shortened(Printable(found.ToString()), kLongestName)));
}

}  // namespace pintle::kube
