// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/unit_links.h"

#include "unit/host/systemd/unit_tree.h"

namespace pintle::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string kFolder = "/etc/systemd/system/";

struct Tree : UnitTree {
  Tree() {
    Link("etc/systemd/system/multi-user.target.wants/a.service", "/usr/lib/systemd/system/a.service");
    Link("etc/systemd/system/b.target.requires/a.service", "../a.service");
    Link("etc/systemd/system/alias.service", "/usr/lib/systemd/system/a.service");
    Link("etc/systemd/system/masked.service", "/dev/null");
    Link("etc/systemd/system/masked-too.service", "../../../dev/null");
    Put("etc/systemd/system/a.service.d/10.conf", "[Service]\n");
    Link("etc/systemd/system/a.service.d/20.conf", "10.conf");
    Put("etc/systemd/system/own.service", "[Service]\n");
    Link("etc/systemd/system/not-a-unit", "own.service");
  }
};

TEST(UnitLinks, AreThoseOfDependenciesAndAliasesButNotMasksAndFiles) {
  const Tree tree;
  EXPECT_THAT(ValueOf(ObserveUnitLinks(tree.root())).targets,
              ElementsAre(Pair(kFolder + "alias.service", "/usr/lib/systemd/system/a.service"),
                          Pair(kFolder + "b.target.requires/a.service", "../a.service"),
                          Pair(kFolder + "multi-user.target.wants/a.service", "/usr/lib/systemd/system/a.service")));
}

TEST(UnitLinks, AreNoneWithoutTheFolder) {
  const TemporaryDirectory empty;
  EXPECT_TRUE(ValueOf(ObserveUnitLinks(ValueOf(Root::Open(empty.path().string())))).targets.empty());
}

TEST(UnitLinks, IncludeAnEntryThatMasksADependency) {
  const UnitTree tree;
  tree.Link("etc/systemd/system/multi-user.target.wants/a.service", "/dev/null");
  EXPECT_THAT(ValueOf(ObserveUnitLinks(tree.root())).targets,
              ElementsAre(Pair(kFolder + "multi-user.target.wants/a.service", "/dev/null")));
}

TEST(PutUnitLinks, RestoresTheOldLinksOnly) {
  const Tree tree;
  const auto before = tree.Links();
  const auto links = ValueOf(ObserveUnitLinks(tree.root()));

  std::filesystem::remove_all(tree / "etc/systemd/system/multi-user.target.wants");
  std::filesystem::remove(tree / "etc/systemd/system/alias.service");
  tree.Link("etc/systemd/system/alias.service", "/somewhere/else");
  tree.Link("etc/systemd/system/new.target.wants/b.service", "/usr/lib/systemd/system/b.service");
  tree.Link("etc/systemd/system/new.service", "/usr/lib/systemd/system/b.service");

  EXPECT_TRUE(Succeeded(PutUnitLinks(tree.root(), links)));
  EXPECT_EQ(tree.Links(), before);
}

TEST(PutUnitLinks, ChangesNothingOutsideItsFolders) {
  const Tree tree;
  const auto before = tree.Links();
  for (const char* path :
       {"/etc/passwd", "/etc/systemd/system/../a.service", "/etc/systemd/system/a.service.d/a.service",
        "/etc/systemd/system/x.wants/not-a-unit", "/etc/systemd/system/a/x.wants/a.service"}) {
    EXPECT_THAT(MessageOf(PutUnitLinks(tree.root(), {.targets = {{path, "/x"}}, .empty_folders = {}})),
                HasSubstr("is not a link of a unit"))
        << path;
  }
  for (const char* path : {"/etc/a.wants", "/etc/systemd/system/a", "/etc/systemd/system/a.wants/b.wants"}) {
    EXPECT_THAT(MessageOf(PutUnitLinks(tree.root(), {.targets = {}, .empty_folders = {path}})),
                HasSubstr("is no folder for links of units"))
        << path;
  }
  EXPECT_EQ(tree.Links(), before);
}

TEST(PutUnitLinks, KeepsOnlyEmptyFoldersThatExistedBefore) {
  const UnitTree tree;
  std::filesystem::create_directories(tree / "etc/systemd/system/old.wants");
  const auto links = ValueOf(ObserveUnitLinks(tree.root()));
  const auto before = tree.Links();
  std::filesystem::remove(tree / "etc/systemd/system/old.wants");
  std::filesystem::create_directories(tree / "etc/systemd/system/new.wants");
  // A crash may leave a link under its temporary name.
  std::filesystem::create_symlink("/x", tree / ("etc/systemd/system/new.wants/" + TemporaryNameOf("a.service")));
  EXPECT_TRUE(Succeeded(PutUnitLinks(tree.root(), links)));
  EXPECT_EQ(tree.Links(), before);
}

TEST(RemoveUnitLinks, LeavesTheLinkToTheFileAndOtherInstances) {
  const UnitTree tree;
  tree.Link("etc/systemd/system/a@.service", "/opt/a@.service");
  tree.Link("etc/systemd/system/m.target.wants/a@one.service", "/opt/a@.service");
  tree.Link("etc/systemd/system/m.target.wants/a@two.service", "/opt/a@.service");
  EXPECT_TRUE(Succeeded(RemoveUnitLinks(tree.root(), *UnitName::Parse("a@one.service"))));
  EXPECT_THAT(tree.Links(), ElementsAre(Pair("a@.service", "/opt/a@.service"), Pair("m.target.wants", ""),
                                        Pair("m.target.wants/a@two.service", "/opt/a@.service")));
}

TEST(SyncUnitLinks, SucceedsWithoutAnyLinks) {
  const TemporaryDirectory empty;
  EXPECT_TRUE(Succeeded(SyncUnitLinks(ValueOf(Root::Open(empty.path().string())))));
  EXPECT_TRUE(Succeeded(SyncUnitLinks(Tree().root())));
}

}  // namespace
}  // namespace pintle::host
