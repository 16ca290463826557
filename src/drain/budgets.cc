// SPDX-License-Identifier: Apache-2.0
#include "drain/budgets.h"

#include <chrono>

#include "event/loop.h"
#include "json/fields.h"

namespace pintle::drain {
namespace {

constexpr auto kBudgetsKeptFor = std::chrono::seconds(5);
constexpr int kBudgetTries = 3;
constexpr kube::Backoff::Settings kAfterFailure = {
    .first = std::chrono::seconds(10), .longest = std::chrono::minutes(4), .jitter = 0.25};

// A budget of policy/v1beta1, the only version before Kubernetes 1.21.
struct BetaBudget : api::PodDisruptionBudget {};

// An empty selector matches no pod in v1beta1, but all pods in v1.  A missing selector matches no pod in v1.
api::PodDisruptionBudget Converted(api::PodDisruptionBudget old) {
  if (old.spec.selector && old.spec.selector->is_empty()) old.spec.selector.reset();
  return old;
}

}  // namespace
}  // namespace pintle::drain

template <>
inline constexpr pintle::kube::ResourceKind pintle::kube::kResourceKind<pintle::drain::BetaBudget> = {
    "policy", "v1beta1", "poddisruptionbudgets", "PodDisruptionBudget", Scope::kNamespaced};

namespace pintle::drain {

class Budgets::Question final : public kube::Work {
 public:
  explicit Question(Done done) : done_(std::move(done)) {}
  void Answer(const Result<List>& budgets) { std::exchange(done_, nullptr)(budgets); }

 private:
  Done done_;
};

Budgets::Budgets(kube::Client client, const Clock& clock)
    : client_(client.Trying(kBudgetTries, {})), clock_(clock), backoff_(kAfterFailure, kube::SystemRandom()) {}

kube::Call Budgets::Get(Done done) {
  auto question = std::make_shared<Question>(std::move(done));
  const bool is_known = !known_ || *known_ != nullptr;
  if (is_known && clock_.Monotonic() < known_until_) {
    client_.transport()->loop().Post([weak = std::weak_ptr(question), known = known_] {
      if (const auto alive = weak.lock()) alive->Answer(known);
    });
    return kube::Call(std::move(question));
  }
  waiting_.push_back(question);
  if (!std::exchange(is_listing_, true)) ListCurrent();
  return kube::Call(std::move(question));
}

void Budgets::ListCurrent() {
  listing_ = client_.List<api::PodDisruptionBudget>({}, [this](Result<std::vector<api::PodDisruptionBudget>> budgets) {
    const bool is_unknown = !budgets && budgets.error().kind() == ErrorKind::kNotFound;
    if (is_unknown) return ListBeta();
    OnListed(std::move(budgets));
  });
}

void Budgets::ListBeta() {
  listing_ = client_.List<BetaBudget>({}, [this](Result<std::vector<BetaBudget>> budgets) {
    if (!budgets) return OnListed(std::move(budgets).error());
    std::vector<api::PodDisruptionBudget> converted;
    for (BetaBudget& budget : *budgets) converted.push_back(Converted(std::move(budget)));
    OnListed(std::move(converted));
  });
}

void Budgets::OnListed(Result<std::vector<api::PodDisruptionBudget>> budgets) {
  is_listing_ = false;
  if (budgets) {
    backoff_.Reset();
    known_ = std::make_shared<const std::vector<api::PodDisruptionBudget>>(*std::move(budgets));
    known_until_ = clock_.Monotonic() + kBudgetsKeptFor;
  } else {
    known_ = std::move(budgets).error();
    known_until_ = clock_.Monotonic() + backoff_.Next();
  }
  Answer();
}

void Budgets::Answer() {
  const Result<List> kept = known_;
  for (const auto& weak : std::exchange(waiting_, {})) {
    if (const auto question = weak.lock()) question->Answer(kept);
  }
}

}  // namespace pintle::drain
