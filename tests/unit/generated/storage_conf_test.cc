// SPDX-License-Identifier: Apache-2.0
#include "generated/storage_conf.h"

#include <gtest/gtest.h>

namespace pintle::generated {
namespace {

constexpr std::string_view kNumbers =
    "    force_mask = 0\n    auto-userns-min-size = 0\n    auto-userns-max-size = 0\n";

TEST(StorageConf, KeepsTheKeysThatTheToolsKnow) {
  const auto text = StorageConf(R"(# A comment.
[storage]
driver = "overlay"
runroot = "/run/c"
graphroot = "/var/c"
rootless_storage_path = "unknown"
[storage.options]
additionalimagestores = []
size = ""
pull_options = {b = "2", a = "1"}
imagestore = "/i"
disable-volatile = true
root-auto-userns-user = "u"
auto-userns-min-size = 7
MountOpt = "in another case"
[storage.options.thinpool]
[storage.options.overlay]
skip_mount_home = "true"
mountopt = "nodev"
unknown = "gone"
[storage.options.zfs]
fsname = "z"
)",
                                {});
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, R"([storage]
  driver = "overlay"
  runroot = "/run/c"
  graphroot = "/var/c"
  [storage.options]
    imagestore = "/i"
    force_mask = 0
    root-auto-userns-user = "u"
    auto-userns-min-size = 7
    auto-userns-max-size = 0
    mountopt = "in another case"
    disable-volatile = true
    [storage.options.overlay]
      mountopt = "nodev"
      skip_mount_home = "true"
    [storage.options.zfs]
      fsname = "z"
    [storage.options.pull_options]
      a = "1"
      b = "2"
)");
}

TEST(StorageConf, PrefersChangesToTheTemplate) {
  const auto text =
      StorageConf("[storage.options]\nsize = \"1G\"\nadditionalimagestores = [\"/old\"]\n",
                  {.size = "20G", .additional_layer_stores = {"/l", "/m"}, .additional_image_stores = {"/i"}});
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "[storage]\n  driver = \"\"\n  runroot = \"\"\n  graphroot = \"\"\n  [storage.options]\n"
            "    additionalimagestores = [\"/i\"]\n    additionallayerstores = [\"/l:ref\", \"/m:ref\"]\n"
            "    size = \"20G\"\n" +
                std::string(kNumbers));
}

TEST(StorageConf, KeepsStoresOfTheTemplateThatAreNotChanged) {
  const auto text = StorageConf("[storage.options]\nadditionalimagestores = [\"/old\"]\n",
                                {.size = "1", .additional_layer_stores = {}, .additional_image_stores = {}});
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("additionalimagestores = [\"/old\"]"), std::string::npos);
}

TEST(StorageConf, RefusesATemplateOfOtherTypes) {
  for (const std::string_view wrong :
       {"[storage", "storage = 1", "[storage]\ndriver = 1", "[storage.options]\nsize = true",
        "[storage.options]\nadditionalimagestores = \"/a\"", "[storage.options]\nadditionalimagestores = [1]",
        "[storage.options]\nauto-userns-min-size = -1", "[storage.options]\nforce_mask = 4294967296",
        "[storage.options]\ndisable-volatile = \"true\"", "[storage.options]\npull_options = {a = 1}",
        "[storage.options]\noverlay = \"x\""}) {
    EXPECT_FALSE(StorageConf(wrong, {})) << wrong;
  }
}

}  // namespace
}  // namespace pintle::generated
