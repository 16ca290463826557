// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/merge_all.h"

#include <random>

#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

using ignition::Config;

// Random configs with few names, so that they overlap.
class RandomConfigs {
 public:
  explicit RandomConfigs(unsigned seed) : random_(seed) {}

  Config Next() {
    Config config;
    config.ignition.version = ignition::kNewestVersion;
    for (int path = 0; path < 6; ++path) AddNode(config, "/p" + std::to_string(path));
    for (int unit = 0; unit < 3; ++unit) {
      if (Below(3) == 0) continue;
      auto& added = config.systemd.units.emplace_back();
      added.name = "u" + std::to_string(unit) + ".service";
      if (Below(2) == 0) added.enabled = Below(2) == 0;
      if (Below(2) == 0) added.dropins.emplace_back().name = "d" + std::to_string(Below(3)) + ".conf";
    }
    auto& user = config.passwd.users.emplace_back();
    user.name = "core";
    user.ssh_authorized_keys = {"k" + std::to_string(Below(3))};
    return config;
  }

 private:
  unsigned Below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  void AddNode(Config& config, const std::string& path) {
    switch (Below(5)) {
      case 0: {
        auto& file = config.storage.files.emplace_back();
        file.path = path;
        if (Below(2) == 0) file.mode = Below(8);
        if (Below(2) == 0) file.contents.source = "data:," + std::to_string(Below(9));
        if (Below(2) == 0) file.contents.compression = Below(2) == 0 ? "" : "gzip";
        if (Below(4) == 0) file.append.emplace_back().source = "data:,a";
        return;
      }
      case 1:
        config.storage.directories.emplace_back().path = path;
        return;
      case 2:
        config.storage.links.emplace_back().path = path;
        return;
      default:
        return;
    }
  }

  std::minstd_rand random_;
};

TEST(MergeAll, IsTheSameAsMergingOneAfterTheOther) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    RandomConfigs configs(seed);
    Config base = configs.Next();
    std::vector<Config> children;
    for (unsigned i = 0; i < seed % 7; ++i) children.push_back(configs.Next());
    Config expected = base;
    for (const Config& child : children) expected = ignition::Merge(std::move(expected), child);
    const Config merged = MergeAll(std::move(base), std::move(children));
    ASSERT_TRUE(json::Equal(merged, expected)) << seed << "\n"
                                               << json::ToText(ignition::Encode(merged)) << "\n"
                                               << json::ToText(ignition::Encode(expected));
  }
}

}  // namespace
}  // namespace pintle::machineconfig
