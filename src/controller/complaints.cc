// SPDX-License-Identifier: Apache-2.0
#include "controller/complaints.h"

namespace pintle::controller {

bool Complaints::ShouldLog(const std::string& action, const std::string& message, MonotonicTime now) {
  std::erase_if(complaints_, [&](const auto& known) { return now - known.second.last >= kForgottenAfter; });
  const auto [known, is_first] =
      complaints_.try_emplace(action, Complaint{.message = message, .logged = now, .last = now});
  Complaint& complaint = known->second;
  complaint.last = now;
  const bool is_new_message = complaint.message != message;
  if (!is_first && !is_new_message && now - complaint.logged < kLoggedAgainAfter) return false;
  complaint.message = message;
  complaint.logged = now;
  return true;
}

}  // namespace pintle::controller
