// SPDX-License-Identifier: Apache-2.0
#pragma once

// A change worked out: what is not as wanted, and the way back from there.

#include <string_view>

#include "api/machine_config.h"
#include "base/result.h"
#include "change/change.h"
#include "host/blob_store.h"
#include "host/host.h"
#include "plan/plan.h"

namespace pintle::change {

// Where the config that a machine has is kept, as the Machine Config Operator does.
inline constexpr const char* kConfigDirectory = "/etc/machine-config-daemon";
inline constexpr const char* kCurrentConfig = "/etc/machine-config-daemon/currentconfig";

// The name of the config of a machine that has none yet, as the Machine Config Operator calls it.
inline constexpr std::string_view kNoConfig = "mco-empty-mc";
bool IsNoConfig(const api::MachineConfig& config);

// Collects the contents that the change and its undo need, and makes them durable.  Changes nothing else.
Result<Change> Stage(const host::Host& host, host::BlobStore& contents, const plan::ParsedConfig& from,
                     const plan::ParsedConfig& to, const plan::Plan& plan);

}  // namespace pintle::change
