// SPDX-License-Identifier: Apache-2.0
#include "generated/payload_registries.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "generated/image_reference.h"
#include "generated/registries_conf.h"
#include "generated/scopes.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

using Scopes = std::vector<std::string>;

// Returns whether container tools would pull the release from a place that is not blocked.  Considers only mirrors for
// digests, because a release is pulled by its digest.
Result<bool> HasUnblockedSource(std::string_view release_image, const std::string& payload,
                                const api::RegistrySources& sources, const MirrorObjects& mirrors) {
  const Scopes insecure = sources.insecure.value_or(Scopes());
  const Scopes blocked = sources.blocked.value_or(Scopes());
  MirrorObjects for_digests = mirrors;
  for_digests.tag_sets = {};
  RegistriesConf conf;
  TRY(Edit(conf, {insecure, blocked}, for_digests));
  TRY(CheckAcceptedByTools(conf));
  const Registry* const entry = FindRegistry(conf, payload);
  if (entry == nullptr) return false;
  const std::vector<PullSource> places = TRY(PullSources(*entry, release_image));
  return std::any_of(places.begin(), places.end(),
                     [&](const PullSource& place) { return !IsInsideOneOf(place.repository, blocked); });
}

}  // namespace

Result<PayloadRegistries> SplitRegistries(const api::RegistrySources& sources, std::string_view release_image,
                                          const MirrorObjects& mirrors) {
  auto repository = RepositoryOf(release_image);
  if (!repository) return Error(ErrorKind::kInvalid, "error parsing reference of release image");
  PayloadRegistries split;
  split.payload = *std::move(repository);
  const Scopes blocked = sources.blocked.value_or(Scopes());
  bool has_mirror = false;
  if (IsInsideOneOf(split.payload, blocked)) {
    const auto found = HasUnblockedSource(release_image, split.payload, sources, mirrors);
    if (!found) {
      if (found.error().kind() == ErrorKind::kUnconvertible) return found.error();
      // As in the operator, nothing is blocked in this case.  Otherwise the cluster might be unable to pull its images.
      split.problem = found.error().message();
      return split;
    }
    has_mirror = *found;
  }
  split.allowed = sources.allowed.value_or(Scopes());
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
