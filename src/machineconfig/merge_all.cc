// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/merge_all.h"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

namespace pintle::machineconfig {
namespace {

using ignition::Config;
using ignition::Directory;
using ignition::File;
using ignition::Link;
using ignition::Unit;

const std::string& NameOf(const File& file) { return file.path; }
const std::string& NameOf(const Directory& directory) { return directory.path; }
const std::string& NameOf(const Link& link) { return link.path; }
const std::string& NameOf(const Unit& unit) { return unit.name; }

// Returns the config's list for things of one kind.
std::vector<File>& ListIn(Config& config, const File*) { return config.storage.files; }
std::vector<Directory>& ListIn(Config& config, const Directory*) { return config.storage.directories; }
std::vector<Link>& ListIn(Config& config, const Link*) { return config.storage.links; }
std::vector<Unit>& ListIn(Config& config, const Unit*) { return config.systemd.units; }

template <typename T>
std::vector<T>& ListIn(Config& config) {
  return ListIn(config, static_cast<const T*>(nullptr));
}

// Merges two things of one name, as ignition::Merge() merges two configs that have only these.
template <typename T>
T MergeOne(T parent, T child) {
  Config parent_config;
  ListIn<T>(parent_config).push_back(std::move(parent));
  Config child_config;
  ListIn<T>(child_config).push_back(std::move(child));
  Config merged = ignition::Merge(std::move(parent_config), std::move(child_config));
  return std::move(ListIn<T>(merged).front());
}

// Things of one kind, in order.  A thing that is removed leaves a gap until Take().
template <typename T>
class Things {
 public:
  std::size_t Add(T thing) {
    things_.push_back(std::move(thing));
    is_removed_.push_back(false);
    return things_.size() - 1;
  }
  void Merge(std::size_t at, T child) { things_[at] = MergeOne(std::move(things_[at]), std::move(child)); }
  void Remove(std::size_t at) { is_removed_[at] = true; }

  std::vector<T> Take() && {
    std::vector<T> left;
    left.reserve(things_.size());
    for (std::size_t i = 0; i < things_.size(); ++i) {
      if (!is_removed_[i]) left.push_back(std::move(things_[i]));
    }
    return left;
  }

 private:
  std::vector<T> things_;
  std::vector<bool> is_removed_;
};

// A path is a file, a directory or a link; the last config that has the path decides which.
class Merger {
 public:
  void MergeIn(Config child) {
    MergeInList<File>(child, files_, Kind::kFile, nodes_);
    MergeInList<Directory>(child, directories_, Kind::kDirectory, nodes_);
    MergeInList<Link>(child, links_, Kind::kLink, nodes_);
    MergeInList<Unit>(child, units_, Kind::kUnit, unit_names_);
    rest_ = is_first_ ? std::move(child) : ignition::Merge(std::move(rest_), std::move(child));
    is_first_ = false;
  }

  Config Take() && {
    rest_.storage.files = std::move(files_).Take();
    rest_.storage.directories = std::move(directories_).Take();
    rest_.storage.links = std::move(links_).Take();
    rest_.systemd.units = std::move(units_).Take();
    return std::move(rest_);
  }

 private:
  enum class Kind { kFile, kDirectory, kLink, kUnit };
  struct Place {
    Kind kind;
    std::size_t index;
  };
  using Places = std::unordered_map<std::string, Place>;

  template <typename T>
  void MergeInList(Config& child, Things<T>& things, Kind kind, Places& places) {
    for (T& thing : std::exchange(ListIn<T>(child), {})) {
      const auto [known, is_new] = places.try_emplace(NameOf(thing), Place{kind, 0});
      Place& place = known->second;
      if (!is_new && place.kind == kind) {
        things.Merge(place.index, std::move(thing));
        continue;
      }
      if (!is_new) Remove(place);
      place = {kind, things.Add(std::move(thing))};
    }
  }

  void Remove(const Place& place) {
    switch (place.kind) {
      case Kind::kFile:
        return files_.Remove(place.index);
      case Kind::kDirectory:
        return directories_.Remove(place.index);
      case Kind::kLink:
        return links_.Remove(place.index);
      case Kind::kUnit:
        return units_.Remove(place.index);
    }
  }

  bool is_first_ = true;
  Config rest_;  // All parts of the merged config that are not in the members below.
  Things<File> files_;
  Things<Directory> directories_;
  Things<Link> links_;
  Things<Unit> units_;
  Places nodes_;
  Places unit_names_;
};

}  // namespace

Config MergeAll(Config base, std::vector<Config> children) {
  if (children.empty()) return base;
  Merger merger;
  merger.MergeIn(std::move(base));
  for (Config& child : children) merger.MergeIn(std::move(child));
  return std::move(merger).Take();
}

}  // namespace pintle::machineconfig
