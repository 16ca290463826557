// SPDX-License-Identifier: Apache-2.0
#include "generated/payload_registries.h"

#include <fmt/core.h>

#include "generated/image_reference.h"
#include "generated/scopes.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

using Scopes = std::vector<std::string>;

// Looks at mirrors for digests only, because a release is pulled by its digest.
bool HasUnblockedMirror(const std::string& repository, const Scopes& blocked, const MirrorObjects& objects) {
  for (const api::Mirrors* mirrors : DigestMirrors(objects)) {
    if (!IsInside(repository, mirrors->source)) continue;
    for (const std::string& mirror : mirrors->mirrors) {
      if (!IsInsideOneOf(InMirror(mirror, mirrors->source, repository), blocked)) return true;
    }
  }
  return false;
}

}  // namespace

Result<PayloadRegistries> SplitRegistries(const api::RegistrySources& sources, std::string_view release_image,
                                          const MirrorObjects& mirrors) {
  auto repository = RepositoryOf(release_image);
  if (!repository) return Error(ErrorKind::kInvalid, "error parsing reference of release image");
  PayloadRegistries split;
  split.payload = *std::move(repository);
  split.allowed = sources.allowed.value_or(Scopes());
  const Scopes blocked = sources.blocked.value_or(Scopes());
  const bool has_mirror = HasUnblockedMirror(split.payload, blocked, mirrors);
  for (const std::string& scope : blocked) {
    const bool has_payload = IsInside(split.payload, scope);
    if (has_payload && !has_mirror) {
      split.left_out.push_back(scope);
      continue;
    }
    split.blocked_in_registries.push_back(scope);
    if (scope != split.payload) split.blocked_in_policy.push_back(scope);
    if (has_payload) split.allowed.push_back(split.payload);
  }
  return split;
}

std::string WhyLeftOut(std::string_view scope) {
  return fmt::format("error adding {} to blocked registries, cannot block the repository being used by the payload",
                     gotext::Quoted(scope));
}

}  // namespace pintle::generated
