// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for the cluster's settings of images: registries, mirrors and signatures.
//
// Only built-in pools get a config; custom pools use the workers' config.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "generated/pool_templates.h"

namespace pintle::controller {

// States whether nodes verify the signatures that image policies require.  They do so only while the feature gate
// SigstoreImageVerification is open.
enum class ImageSignatures { kIgnored, kVerified };

void RegistriesPass(const GenerateInputs& inputs, generated::PoolTemplates& templates, ImageSignatures signatures,
                    GenerateChanges& changes);

}  // namespace pintle::controller
