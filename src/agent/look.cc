// SPDX-License-Identifier: Apache-2.0
#include "agent/look.h"

#include <utility>

#include "change/drift.h"
#include "change/kept_policy.h"

namespace pintle::agent {

Result<Survey> LookAt(const host::Host& host, const SurveyRequest& request, const Goal& goal) {
  Observation seen = TRY(Observe(host, request));
  const auto seen_files = std::move(seen.seen_files);
  Survey survey = SurveyOf(std::move(seen), goal, host.clock.Wall());

  if (seen_files) change::KeepSeenFiles(host.root, *seen_files);
  if (survey.policy) TRY(change::KeepPolicy(host.root, *survey.policy));
  if (survey.failure) return *std::move(survey.failure);
  return survey;
}

}  // namespace pintle::agent
