// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mirrors of a cluster, out of all the objects that speak of them: one list for each source.

#include <span>
#include <string>
#include <vector>

#include "api/image_config.h"
#include "base/result.h"

namespace pintle::generated {

// The objects of each kind, in the order in which they are to count.
struct MirrorObjects {
  std::span<const api::MirrorSet> content_source_policies;
  std::span<const api::MirrorSet> digest_sets;
  std::span<const api::MirrorSet> tag_sets;

  bool is_empty() const { return content_source_policies.empty() && digest_sets.empty() && tag_sets.empty(); }
};

// In the words of the Machine Config Operator; the first that is wrong.
Result<> CheckMirrors(const MirrorObjects& objects);

struct MergedMirrors {
  std::string source;
  std::vector<std::string> mirrors;  // In the order in which they are asked.
  bool never_contact_source = false;
};

// By their sources.  Mirrors of one source keep all orders in which they were given, as far as these agree; where they
// leave it open, or contradict each other, names decide.
std::vector<MergedMirrors> MergedDigestMirrors(const MirrorObjects& objects);
std::vector<MergedMirrors> MergedTagMirrors(const MirrorObjects& objects);

// All that is said of images that are named by digest: ImageDigestMirrorSets first.
std::vector<const api::Mirrors*> DigestMirrors(const MirrorObjects& objects);

}  // namespace pintle::generated
