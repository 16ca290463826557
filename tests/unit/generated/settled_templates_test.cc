// SPDX-License-Identifier: Apache-2.0
#include "generated/settled_templates.h"

#include <gmock/gmock.h>

#include <string>

namespace pintle::generated {
namespace {

using Reading = SettledTemplates::Reading;

TemplateFolder FolderWith(const std::string& text) {
  TemplateFolder folder("/templates");
  folder.Add("worker/00-worker/_base/files/a.yaml", text);
  return folder;
}

std::string Used(const SettledTemplates& templates) { return templates.get()->digest(); }

TEST(SettledTemplates, UseTheFirstReadingAtOnce) {
  SettledTemplates templates;
  EXPECT_EQ(templates.get(), nullptr);
  EXPECT_EQ(templates.Offer(FolderWith("a")), Reading::kUsed);
  EXPECT_EQ(Used(templates), FolderWith("a").digest());
  EXPECT_EQ(templates.Offer(FolderWith("a")), Reading::kSame);
}

TEST(SettledTemplates, UseAChangeThatTwoReadingsInARowHaveFound) {
  SettledTemplates templates;
  templates.Offer(FolderWith("a"));
  EXPECT_EQ(templates.Offer(FolderWith("half of b")), Reading::kMustBeRepeated);
  EXPECT_EQ(templates.Offer(FolderWith("b")), Reading::kMustBeRepeated);
  EXPECT_EQ(Used(templates), FolderWith("a").digest());
  EXPECT_EQ(templates.Offer(FolderWith("b")), Reading::kUsed);
  EXPECT_EQ(Used(templates), FolderWith("b").digest());
}

TEST(SettledTemplates, ForgetAChangeThatWasTakenBack) {
  SettledTemplates templates;
  templates.Offer(FolderWith("a"));
  EXPECT_EQ(templates.Offer(FolderWith("b")), Reading::kMustBeRepeated);
  EXPECT_EQ(templates.Offer(FolderWith("a")), Reading::kSame);
  EXPECT_EQ(templates.Offer(FolderWith("b")), Reading::kMustBeRepeated);
  EXPECT_EQ(Used(templates), FolderWith("a").digest());
}

}  // namespace
}  // namespace pintle::generated
