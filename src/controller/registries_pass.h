// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for the cluster's settings of images: registries, mirrors and signatures.
//
// Only the pools that the cluster makes itself get a config; custom pools have that of workers.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "generated/pool_templates.h"

namespace pintle::controller {

// Image policies count only while the feature gate SigstoreImageVerification is open.
enum class ImageSignatures { kIgnored, kVerified };

void RegistriesPass(const GenerateInputs& inputs, generated::PoolTemplates& templates, ImageSignatures signatures,
                    GenerateChanges& changes);

}  // namespace pintle::controller
