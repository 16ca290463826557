// SPDX-License-Identifier: Apache-2.0
#include "generated/settled_templates.h"

#include <utility>

namespace pintle::generated {

SettledTemplates::Reading SettledTemplates::Offer(TemplateFolder read) {
  std::string digest = read.Digest();
  if (used_ && digest == digest_) {
    unsettled_.clear();
    return Reading::kSame;
  }
  if (used_ && digest != unsettled_) {
    unsettled_ = std::move(digest);
    return Reading::kMustBeRepeated;
  }
  unsettled_.clear();
  digest_ = std::move(digest);
  used_.emplace(std::move(read));
  return Reading::kUsed;
}

}  // namespace pintle::generated
