// SPDX-License-Identifier: Apache-2.0
#include "generated/settled_templates.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace pintle::generated {
namespace {

using Reading = SettledTemplates::Reading;

TemplateFolder FolderWith(const std::string& text) {
  TemplateFolder folder("/templates");
  folder.Add("worker/00-worker/_base/files/a.yaml", text);
  return folder;
}

std::string Used(const SettledTemplates& templates) { return templates.get()->Digest(); }

TEST(SettledTemplates, UseTheFirstReadingAtOnce) {
  SettledTemplates templates;
  EXPECT_EQ(templates.get(), nullptr);
  EXPECT_EQ(templates.Offer(FolderWith("a")), Reading::kUsed);
  EXPECT_EQ(Used(templates), FolderWith("a").Digest());
  EXPECT_EQ(templates.Offer(FolderWith("a")), Reading::kSame);
}

TEST(SettledTemplates, UseAChangeThatTwoReadingsInARowHaveFound) {
  SettledTemplates templates;
  templates.Offer(FolderWith("a"));
  EXPECT_EQ(templates.Offer(FolderWith("half of b")), Reading::kMustBeRepeated);
  EXPECT_EQ(templates.Offer(FolderWith("b")), Reading::kMustBeRepeated);
  EXPECT_EQ(Used(templates), FolderWith("a").Digest());
  EXPECT_EQ(templates.Offer(FolderWith("b")), Reading::kUsed);
  EXPECT_EQ(Used(templates), FolderWith("b").Digest());
}

// A copy of a folder may list its files in another order, and so may the next version of a volume.
TEST(SettledTemplates, AreTheSameInAnotherOrder) {
  TemplateFolder forwards("/templates");
  TemplateFolder backwards("/templates");
  const std::vector<std::string> paths = {"common/_base/files/a.yaml", "worker/00-worker/_base/files/a.yaml",
                                          "worker/00-worker/_base/files/b.yaml"};
  for (auto path = paths.begin(); path != paths.end(); ++path) forwards.Add(*path, "text of " + *path);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) backwards.Add(*path, "text of " + *path);
  SettledTemplates templates;
  EXPECT_EQ(templates.Offer(std::move(forwards)), Reading::kUsed);
  EXPECT_EQ(templates.Offer(std::move(backwards)), Reading::kSame);
}

TEST(SettledTemplates, HaveAnotherDigestIfAFileMovesOrSwapsItsTextWithAnother) {
  const auto folder_with = [](const std::string& a, const std::string& text_of_a, const std::string& text_of_b) {
    TemplateFolder folder("/templates");
    folder.Add("worker/00-worker/_base/files/" + a, text_of_a);
    folder.Add("worker/00-worker/_base/files/b", text_of_b);
    return folder.Digest();
  };
  EXPECT_NE(folder_with("a", "1", "2"), folder_with("a", "2", "1"));
  EXPECT_NE(folder_with("a", "1", "2"), folder_with("c", "1", "2"));
}

TEST(SettledTemplates, ForgetAChangeThatWasTakenBack) {
  SettledTemplates templates;
  templates.Offer(FolderWith("a"));
  EXPECT_EQ(templates.Offer(FolderWith("b")), Reading::kMustBeRepeated);
  EXPECT_EQ(templates.Offer(FolderWith("a")), Reading::kSame);
  EXPECT_EQ(templates.Offer(FolderWith("b")), Reading::kMustBeRepeated);
  EXPECT_EQ(Used(templates), FolderWith("a").Digest());
}

}  // namespace
}  // namespace pintle::generated
