// SPDX-License-Identifier: Apache-2.0
#include "controller/complaints.h"

namespace pintle::controller {

bool Complaints::IsNews(const std::string& what, const std::string& how, MonotonicTime now) {
  std::erase_if(complaints_, [&](const auto& one) { return now - one.second.last >= kForgottenAfter; });
  const auto [known, is_first] = complaints_.try_emplace(what, Complaint{.how = how, .said = now, .last = now});
  Complaint& complaint = known->second;
  complaint.last = now;
  const bool is_other = complaint.how != how;
  if (!is_first && !is_other && now - complaint.said < kLoggedAgainAfter) return false;
  complaint.how = how;
  complaint.said = now;
  return true;
}

}  // namespace pintle::controller
