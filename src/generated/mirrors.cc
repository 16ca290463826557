// SPDX-License-Identifier: Apache-2.0
#include "generated/mirrors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string_view>

#include "generated/image_reference.h"
#include "generated/invalid.h"
#include "generated/scopes.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

using AllMirrors = std::vector<const api::Mirrors*>;

void Append(AllMirrors& all, std::span<const api::MirrorSet> sets,
            std::vector<api::Mirrors> api::MirrorSetSpec::*list) {
  for (const api::MirrorSet& set : sets) {
    for (const api::Mirrors& mirrors : set.spec.*list) all.push_back(&mirrors);
  }
}

AllMirrors DigestMirrors(const MirrorObjects& objects) {
  AllMirrors all;
  Append(all, objects.digest_sets, &api::MirrorSetSpec::image_digest_mirrors);
  Append(all, objects.content_source_policies, &api::MirrorSetSpec::repository_digest_mirrors);
  return all;
}

AllMirrors TagMirrors(const MirrorObjects& objects) {
  AllMirrors all;
  Append(all, objects.tag_sets, &api::MirrorSetSpec::image_tag_mirrors);
  return all;
}

bool IsSource(std::string_view source) {
  return IsWildcard(source) ? IsValidScope(source) && IsRegistryOrRepository(source.substr(2))
                            : IsRegistryOrRepository(source);
}

std::string_view PolicyOf(const api::Mirrors& mirrors) {
  return mirrors.source_policy.empty() ? api::kAllowContactingSource : std::string_view(mirrors.source_policy);
}

// Checks the mirrors of one object for one source.  `policies` has the policies of the sources that were checked
// before, and gets the policy of this source.
Result<> CheckMirrorsOfSource(const api::Mirrors& mirrors, std::map<std::string_view, std::string_view>& policies) {
  const std::string quoted_source = gotext::Quoted(mirrors.source);
  if (!IsSource(mirrors.source)) return Invalid(fmt::format("invalid format for source {}", quoted_source));
  const std::string_view policy = PolicyOf(mirrors);
  if (policies.emplace(mirrors.source, policy).first->second != policy) {
    return Invalid(
        fmt::format("conflicting mirrorSourcePolicy is set for the same source {} in "
                    "imagedigestmirrorsets, imagetagmirrorsets, or imagecontentsourcepolicies",
                    quoted_source));
  }
  for (const std::string& mirror : mirrors.mirrors) {
    if (!IsRegistryOrRepository(mirror)) {
      return Invalid(fmt::format("invalid format for mirror {}", gotext::Quoted(mirror)));
    }
    if (policy == api::kNeverContactSource && mirror == mirrors.source) {
      return Invalid(fmt::format(
          "cannot set mirrorSourcePolicy: NeverContactSource if the source {} is one of the mirrors", quoted_source));
    }
  }
  return {};
}

// Sorts names topologically, by pairs of a name and a later name.
class PartialOrder {
 public:
  void AddPair(const std::string& before, const std::string& after) {
    names_[before].after.insert(after);
    names_[after].before.insert(before);
  }

  // A name is ready when all names before it are placed.  The name that has been ready for longest comes next; names
  // that became ready together are sorted.  If no name is ready, the pairs contradict each other; then the
  // alphabetically first of the remaining names comes next.
  std::vector<std::string> Sorted() {
    std::deque<std::string> ready;
    for (const auto& [name, neighbors] : names_) {
      if (neighbors.before.empty()) ready.push_back(name);
    }
    std::vector<std::string> sorted;
    for (auto unplaced = names_.begin(); sorted.size() < names_.size();) {
      if (!ready.empty()) {
        Place(ready.front(), sorted, ready);
        ready.pop_front();
      } else {
        while (unplaced->second.is_placed) ++unplaced;
        Place(unplaced->first, sorted, ready);
      }
    }
    return sorted;
  }

 private:
  struct Neighbors {
    std::set<std::string> before;  // The names that have to be placed before this name and are not placed yet.
    std::set<std::string> after;   // The names that have to be placed after this name.
    bool is_placed = false;
  };

  void Place(const std::string& name, std::vector<std::string>& sorted, std::deque<std::string>& ready) {
    Neighbors& neighbors = names_.at(name);
    neighbors.is_placed = true;
    sorted.push_back(name);
    for (const std::string& next : neighbors.after) {
      Neighbors& of_next = names_.at(next);
      of_next.before.erase(name);
      if (of_next.before.empty() && !of_next.is_placed) ready.push_back(next);
    }
  }

  std::map<std::string, Neighbors> names_;
};

// Returns whether there is a mirror other than the source itself.
bool HasRealMirror(const api::Mirrors& mirrors) {
  return std::any_of(mirrors.mirrors.begin(), mirrors.mirrors.end(),
                     [&](const std::string& mirror) { return mirror != mirrors.source; });
}

MergedMirrors Merged(const std::string& source, const AllMirrors& all) {
  MergedMirrors merged;
  merged.source = source;
  PartialOrder order;
  for (const api::Mirrors* mirrors : all) {
    const auto& names = mirrors->mirrors;
    for (std::size_t i = 0; i + 1 < names.size(); ++i) order.AddPair(names[i], names[i + 1]);
    // A source that is not among its mirrors comes after all of them.
    if (std::find(names.begin(), names.end(), source) == names.end()) order.AddPair(names.back(), source);
    if (PolicyOf(*mirrors) == api::kNeverContactSource) merged.never_contact_source = true;
  }
  merged.mirrors = order.Sorted();
  if (merged.mirrors.back() == source) merged.mirrors.pop_back();
  return merged;
}

std::vector<MergedMirrors> MergedBySource(const AllMirrors& all) {
  std::map<std::string, AllMirrors> by_source;
  for (const api::Mirrors* mirrors : all) {
    if (HasRealMirror(*mirrors)) by_source[mirrors->source].push_back(mirrors);
  }
  std::vector<MergedMirrors> merged;
  for (const auto& [source, mirrors] : by_source) merged.push_back(Merged(source, mirrors));
  return merged;
}

}  // namespace

Result<> CheckMirrors(const MirrorObjects& objects) {
  std::map<std::string_view, std::string_view> policies;
  for (const AllMirrors& all : {DigestMirrors(objects), TagMirrors(objects)}) {
    for (const api::Mirrors* mirrors : all) TRY(CheckMirrorsOfSource(*mirrors, policies));
  }
  return {};
}

std::vector<MergedMirrors> MergedDigestMirrors(const MirrorObjects& objects) {
  return MergedBySource(DigestMirrors(objects));
}

std::vector<MergedMirrors> MergedTagMirrors(const MirrorObjects& objects) {
  return MergedBySource(TagMirrors(objects));
}

}  // namespace pintle::generated
