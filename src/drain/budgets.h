// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists all disruption budgets on demand.
//
// Several callers ask at about the same time, so the list is kept for some seconds and answers all of them.  A failure
// is kept as well, and each further failure in a row is kept for longer.

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

  // The clock must outlive this object.
  Budgets(kube::Client client, const Clock& clock);
  Budgets(const Budgets&) = delete;
  Budgets& operator=(const Budgets&) = delete;

  // `done` is called from the loop, unless the call is destroyed before.
  kube::Call Get(Done done);

 private:
  class Question;

  void ListCurrent();
  void ListBeta();
  void OnListed(Result<std::vector<api::PodDisruptionBudget>> budgets);
  void Answer();

  kube::Client client_;
  const Clock& clock_;
  Result<List> known_ = List();  // Null if the budgets have not been listed yet.
  MonotonicTime known_until_;
  kube::Backoff backoff_;
  std::vector<std::weak_ptr<Question>> waiting_;
  bool is_listing_ = false;
  kube::Call listing_;
};

}  // namespace pintle::drain
