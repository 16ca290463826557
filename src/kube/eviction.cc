// SPDX-License-Identifier: Apache-2.0
#include "kube/eviction.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>

namespace pintle::kube {
namespace {

// Kubernetes 1.22 introduced the first version, and 1.25 removed the second.  A server refuses an unknown version as a
// bad request.
constexpr std::array<std::string_view, 2> kVersions = {"policy/v1", "policy/v1beta1"};
// The server's words for a webhook of an old version, whose side effects are unknown.
constexpr std::string_view kNoDryRun = "does not support dry run";

std::string BodyFor(const EvictionRequest& request, std::string_view version) {
  json::Value body = {{"apiVersion", std::string(version)},
                      {"kind", "Eviction"},
                      {"metadata", {{"name", request.pod.name}, {"namespace", request.pod.namespace_name}}}};
  if (!request.uid.empty()) body["deleteOptions"]["preconditions"] = {{"uid", request.uid}};
  if (request.mode == EvictionMode::kDryRun) body["deleteOptions"]["dryRun"] = json::Value::array({"All"});
  return json::ToText(body);
}

// The body decides whether the server evicts the pod.  The query makes the server mark its requests to admission
// webhooks as a dry run: without it, a webhook may count or prepare an eviction that never happens.
std::string PathFor(const EvictionRequest& request) {
  return request.path + Query({{"dryRun", request.mode == EvictionMode::kDryRun ? "All" : ""}});
}

// Returns whether the server has refused a dry run only because a webhook supports none.  The real eviction may
// succeed.
bool IsRefusedDryRun(const Failure& failure, EvictionMode mode) {
  return mode == EvictionMode::kDryRun && failure.status == 400 &&
         failure.error.message().find(kNoDryRun) != std::string::npos;
}

Result<Eviction> OutcomeOf(Fetched fetched, const EvictionRequest& request) {
  auto* const failure = std::get_if<Failure>(&fetched);
  if (failure == nullptr) return Eviction(Departure::kGoing);
  if (failure->disruption_budget) return Eviction(KeptByBudget{*std::move(failure->disruption_budget)});
  if (IsRefusedDryRun(*failure, request.mode)) return Eviction(Departure::kGoing);
  if (request.failed) request.failed(*failure);
  // 409 means that the uid is another pod's.
  if (failure->status == 404 || failure->status == 409) return Eviction(Departure::kGone);
  return std::move(failure->error);
}

class Evictor final : public Work, public std::enable_shared_from_this<Evictor> {
 public:
  Evictor(std::shared_ptr<Transport> transport, EvictionRequest request, std::function<void(Result<Eviction>)> done)
      : transport_(std::move(transport)), request_(std::move(request)), done_(std::move(done)) {}

  void Try(std::size_t version) {
    ApiRequest post = {.method = "POST",
                       .path = PathFor(request_),
                       .content_type = "application/json",
                       .body = BodyFor(request_, kVersions[version]),
                       .doing = fmt::format("{} Pod {}", Doing(), request_.pod.ToString())};
    call_ = Fetch(transport_, std::move(post), Repeatable::kNo, request_.patience,
                  [weak = weak_from_this(), version](Fetched fetched) {
                    if (const auto alive = weak.lock()) alive->Answered(version, std::move(fetched));
                  });
  }

 private:
  void Answered(std::size_t version, Fetched fetched) {
    const auto* const failure = std::get_if<Failure>(&fetched);
    const bool is_unknown = failure != nullptr && failure->status == 400 && !IsRefusedDryRun(*failure, request_.mode);
    if (is_unknown && version + 1 < kVersions.size()) return Try(version + 1);
    const auto done = std::exchange(done_, {});
    done(OutcomeOf(std::move(fetched), request_));
  }

  const char* Doing() const { return request_.mode == EvictionMode::kEvict ? "evicting" : "testing the eviction of"; }

  std::shared_ptr<Transport> transport_;
  EvictionRequest request_;
  std::function<void(Result<Eviction>)> done_;
  Call call_;
};

}  // namespace

Call EvictPod(std::shared_ptr<Transport> transport, EvictionRequest request,
              std::function<void(Result<Eviction>)> done) {
  const auto evictor = std::make_shared<Evictor>(std::move(transport), std::move(request), std::move(done));
  evictor->Try(0);
  return Call(evictor);
}

}  // namespace pintle::kube
