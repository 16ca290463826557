// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges the mirrors of all objects of a cluster into one list for each source.

#include <span>
#include <string>
#include <vector>

#include "api/image_config.h"
#include "base/result.h"

namespace pintle::generated {

// The objects of each kind, in the order in which they take effect.
struct MirrorObjects {
  std::span<const api::MirrorSet> content_source_policies;
  std::span<const api::MirrorSet> digest_sets;
  std::span<const api::MirrorSet> tag_sets;

  bool is_empty() const { return content_source_policies.empty() && digest_sets.empty() && tag_sets.empty(); }
};

// Returns the first problem in the words of the Machine Config Operator.  As in the operator, mirrors for digests are
// checked before mirrors for tags.
Result<> CheckMirrors(const MirrorObjects& objects);

struct MergedMirrors {
  std::string source;
  std::vector<std::string> mirrors;  // In the order in which they are tried.
  bool never_contact_source = false;
};

// These functions return a merged list of mirrors for each source, sorted by source.  A merged list keeps the order of
// the mirrors in the list of each object, as far as the objects do not contradict each other.  Where they leave the
// order open, the operator's order applies.
std::vector<MergedMirrors> MergedDigestMirrors(const MirrorObjects& objects);
std::vector<MergedMirrors> MergedTagMirrors(const MirrorObjects& objects);

}  // namespace pintle::generated
