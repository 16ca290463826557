// SPDX-License-Identifier: Apache-2.0
#include "change/link_changes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace pintle::change {
namespace {

using Links = resource::UnitLinks::State;
using LinksStep = resource::Put<resource::UnitLinks>;

std::optional<std::string> LinkTargetOf(const Links& links, const std::string& path) {
  const auto found = links.targets.find(path);
  return found == links.targets.end() ? std::nullopt : std::optional(found->second);
}

void SetTarget(Links& links, const std::string& path, const std::optional<std::string>& target) {
  links.targets.erase(path);
  if (target) links.targets.emplace(path, *target);
}

}  // namespace

Result<> RecordLinks(const host::Host& host, Change& change) {
  for (const plan::Step& step : change.undo) {
    const auto* undo = std::get_if<LinksStep>(&step);
    if (undo == nullptr) continue;
    Links made = ChangedLinks(*undo->want, TRY(host.systemd.ObserveLinks()));
    change.steps.emplace_back(LinksStep{{}, std::move(made)});
    return {};
  }
  return {};
}

Links ChangedLinks(const Links& before, const Links& after) {
  Links made;
  for (const auto& [path, target] : after.targets) {
    if (LinkTargetOf(before, path) != target) made.targets.emplace(path, target);
  }
  for (const auto& [path, target] : before.targets) {
    if (!LinkTargetOf(after, path)) made.targets.emplace(path, "");
  }
  return made;
}

RestoredLinks RestoreLinks(Links now, const Links& before, const Links& made) {
  RestoredLinks back = {.links = std::move(now), .edited = {}};
  for (const auto& [path, target] : made.targets) {
    const auto present = LinkTargetOf(back.links, path);
    const auto wanted = LinkTargetOf(before, path);
    if (present == wanted) continue;
    if (present.value_or("") == target) {
      SetTarget(back.links, path, wanted);
    } else {
      back.edited.push_back(path);
    }
  }
  // A folder that the change has made is removed, even if an undo that was cut short has emptied it already.  A folder
  // that had no links before the change stays without links.
  std::vector<std::string>& folders = back.links.empty_folders;
  for (const auto& [path, target] : made.targets) std::erase(folders, path.substr(0, path.rfind('/')));
  for (const std::string& folder : before.empty_folders) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  }
  return back;
}

}  // namespace pintle::change
