// SPDX-License-Identifier: Apache-2.0
#include "plan/difference.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "api/meta.h"
#include "json/field_list.h"
#include "machineconfig/validate.h"

namespace pintle::plan {
namespace {

using json::Equal;
using Texts = std::optional<std::vector<std::string>>;

// An absent list equals an empty one.
bool SameTexts(const Texts& a, const Texts& b) {
  static const std::vector<std::string> kNone;
  return (a ? *a : kNone) == (b ? *b : kNone);
}

const std::string& NameOf(const ignition::File& file) { return file.path; }
const std::string& NameOf(const ignition::Unit& unit) { return unit.name; }

// Returns the things that only one list has, and those with the same name that differ; sorted by name.
template <typename Change, typename T>
std::vector<Change> FindChanges(const std::vector<T>& from, const std::vector<T>& to) {
  std::unordered_map<std::string_view, const T*> before;
  for (const T& thing : from) before.insert_or_assign(NameOf(thing), &thing);
  std::unordered_map<std::string_view, const T*> after;
  for (const T& thing : to) after.insert_or_assign(NameOf(thing), &thing);

  std::vector<Change> changes;
  for (const auto& [name, thing] : before) {
    const auto same = after.find(name);
    const T* const now = same == after.end() ? nullptr : same->second;
    if (now == nullptr || !Equal(*thing, *now)) changes.push_back({std::string(name), thing, now});
  }
  for (const auto& [name, thing] : after) {
    if (!before.contains(name)) changes.push_back({std::string(name), nullptr, thing});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    if constexpr (std::is_same_v<Change, FileChange>) {
      return a.path < b.path;
    } else {
      return a.name < b.name;
    }
  });
  return changes;
}

// Returns the image that was built in the cluster for a config, or "".
std::string OclImageOf(const api::MachineConfig& config) {
  const std::string* image = api::Find(config.metadata.annotations, api::kOclOsImageUrlAnnotation);
  return image == nullptr ? "" : *image;
}

void CompareOs(const api::MachineConfig& from, const api::MachineConfig& to, Difference& difference) {
  const std::string from_image = OclImageOf(from);
  const std::string to_image = OclImageOf(to);
  difference.ocl_enabled = !from_image.empty() || !to_image.empty();
  difference.revert_from_ocl = difference.ocl_enabled && to_image.empty();
  difference.os_image =
      difference.ocl_enabled ? from_image != to_image : from.spec.os_image_url != to.spec.os_image_url;
  difference.kernel_arguments = !SameTexts(from.spec.kernel_arguments, to.spec.kernel_arguments);
  difference.extensions = !SameTexts(from.spec.extensions, to.spec.extensions);
  difference.kernel_type = machineconfig::CanonicalKernelType(from.spec.kernel_type) !=
                           machineconfig::CanonicalKernelType(to.spec.kernel_type);
  difference.fips = from.spec.fips != to.spec.fips;
}

}  // namespace

bool Difference::IsEmpty() const {
  return !os_image && !kernel_arguments && !fips && !passwd && !files && !units && !kernel_type && !extensions &&
         !ocl_enabled && !revert_from_ocl;
}

std::string Difference::OsChanges() const {
  std::string text;
  const auto add = [&](bool differs, std::string_view change) {
    if (!differs) return;
    text += text.empty() ? "" : "; ";
    text += change;
  };
  add(os_image, "Upgrading OS");
  add(extensions, "Installing extensions");
  add(kernel_type, "Changing kernel type");
  add(kernel_arguments, "Changing kernel arguments");
  return text;
}

Difference Compare(const ParsedConfig& from, const ParsedConfig& to) {
  Difference difference;
  CompareOs(from.object, to.object, difference);
  difference.passwd = !Equal(from.ignition.passwd, to.ignition.passwd);
  difference.files = !Equal(from.ignition.storage.files, to.ignition.storage.files);
  difference.units = !Equal(from.ignition.systemd.units, to.ignition.systemd.units);
  if (difference.files) {
    difference.changed_files = FindChanges<FileChange>(from.ignition.storage.files, to.ignition.storage.files);
  }
  if (difference.units) {
    difference.changed_units = FindChanges<UnitChange>(from.ignition.systemd.units, to.ignition.systemd.units);
  }
  return difference;
}

bool NeedsRebuild(const api::MachineConfigSpec& from, const api::MachineConfigSpec& to) {
  // Unlike in Compare(), an absent list differs from an empty one.
  return from.os_image_url != to.os_image_url || from.kernel_type != to.kernel_type ||
         from.extensions != to.extensions || from.kernel_arguments != to.kernel_arguments;
}

}  // namespace pintle::plan
