// SPDX-License-Identifier: Apache-2.0
#include "change/kept_policy.h"

#include <string>
#include <utility>

#include "change/kept_file.h"
#include "change/set_aside_remedy.h"
#include "change/state_directory.h"
#include "json/fields.h"

namespace pintle::change {

Result<api::NodeDisruptionPolicy> ReadKeptPolicy(const Root& root) {
  auto policy = TRY(ReadKept<api::NodeDisruptionPolicy>(root, format::kPolicy));
  return policy ? *std::move(policy) : api::NodeDisruptionPolicy();
}

Result<> KeepPolicy(const Root& root, const api::NodeDisruptionPolicy& policy) {
  const std::string text = TextWithVersion(format::kPolicy, json::Encode(policy));
  TRY(ExpectKnownVersion(root, format::kPolicy));
  if (TRY(root.Status(kKeptPolicy)) && TRY(WithSetAsideRemedy(kKeptPolicy, root.ReadFile(kKeptPolicy))) == text)
    return {};
  TRY(root.MakeDirectories(kStateDirectory, kPrivateDirectory));
  return root.WriteFile(kKeptPolicy, text);
}

}  // namespace pintle::change
