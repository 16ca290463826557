// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts without what must not be shown, as the verbs print them.

#include "change/masking.h"

namespace pintle::ctl {

using change::HoldsASecret;
using change::kMasked;
using change::Masked;
using change::MaskedLine;
using change::Printable;
using change::WithoutDataUrls;

}  // namespace pintle::ctl
