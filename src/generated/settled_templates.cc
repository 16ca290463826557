// SPDX-License-Identifier: Apache-2.0
#include "generated/settled_templates.h"

#include <utility>

namespace pintle::generated {

SettledTemplates::Reading SettledTemplates::Offer(TemplateFolder read) {
  if (used_ && read.digest() == used_->digest()) {
    unsettled_.clear();
    return Reading::kSame;
  }
  if (used_ && read.digest() != unsettled_) {
    unsettled_ = read.digest();
    return Reading::kMustBeRepeated;
  }
  unsettled_.clear();
  used_.emplace(std::move(read));
  return Reading::kUsed;
}

}  // namespace pintle::generated
