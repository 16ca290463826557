// SPDX-License-Identifier: Apache-2.0
#pragma once

// All disruption budgets, listed when they are asked for and kept for a moment, since those who ask come in groups.
// That they cannot be listed is kept, too, for longer each time.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "api/pod_disruption_budget.h"
#include "base/clock.h"
#include "base/result.h"
#include "kube/backoff.h"
#include "kube/client.h"

namespace pintle::drain {

class Budgets {
 public:
  using List = std::shared_ptr<const std::vector<api::PodDisruptionBudget>>;
  using Done = std::function<void(const Result<List>& budgets)>;

  // The clock must outlive it.
  Budgets(kube::Client client, const Clock& clock);
  Budgets(const Budgets&) = delete;
  Budgets& operator=(const Budgets&) = delete;

  // `done` is called from the loop, unless the call is destroyed before.
  kube::Call Get(Done done);

 private:
  class Question;

  void ListThem();
  void ListOldOnes();
  void Listed(Result<std::vector<api::PodDisruptionBudget>> budgets);
  void Answer();

  kube::Client client_;
  const Clock& clock_;
  Result<List> known_ = List();  // Null: none are.
  MonotonicTime known_until_;
  kube::Backoff backoff_;
  std::vector<std::weak_ptr<Question>> waiting_;
  bool is_listing_ = false;
  kube::Call listing_;
};

}  // namespace pintle::drain
