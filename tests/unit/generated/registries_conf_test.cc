// SPDX-License-Identifier: Apache-2.0
#include "generated/registries_conf.h"

#include <gtest/gtest.h>

#include "support/expect.h"

namespace pintle::generated {
namespace {

using Names = std::vector<std::string>;

struct WantedRegistries {
  Names insecure;
  Names blocked;
  std::vector<api::Mirrors> digests;
  std::vector<api::Mirrors> tags;
};

// Prints each entry as "scope mirror@digest mirror@tag", separated by "; ".  A "!" follows an insecure scope or
// mirror, and a "#" follows a blocked scope.
std::string ConfLine(const RegistriesConf& conf) {
  std::string shown;
  for (const Registry& registry : conf.registries) {
    if (!shown.empty()) shown += "; ";
    shown += registry.scope();
    if (registry.endpoint.insecure) shown += "!";
    if (registry.blocked) shown += "#";
    for (const RegistryEndpoint& mirror : registry.mirrors) {
      shown += " " + mirror.location + (mirror.insecure ? "!" : "");
      shown += "@" + mirror.pull_from_mirror.substr(0, mirror.pull_from_mirror.find('-'));
    }
  }
  return shown;
}

Result<std::string> Edited(const WantedRegistries& wanted, RegistriesConf conf = {}) {
  std::vector<api::MirrorSet> digests(1);
  digests[0].spec.image_digest_mirrors = wanted.digests;
  std::vector<api::MirrorSet> tags(1);
  tags[0].spec.image_tag_mirrors = wanted.tags;
  TRY(Edit(conf, {wanted.insecure, wanted.blocked},
           {.content_source_policies = {}, .digest_sets = digests, .tag_sets = tags}));
  return ConfLine(conf);
}

TEST(Edit, MakesEntriesInTheOrderOfTheOperator) {
  struct Row {
    WantedRegistries wanted;
    std::string_view entries;
  };
  for (const Row& row : {
           Row{{}, ""},
           {{.insecure = {"z", "a"}, .blocked = {"b"}, .digests = {}, .tags = {}}, "b#; z!; a!"},
           {{.insecure = {"r", "i", "c"}, .blocked = {"b", "c", "d"}, .digests = {}, .tags = {}},
            "b#; c!#; d#; r!; i!"},
           {{.insecure = {},
           .blocked = {"a"},
           .digests = {{"z", {"m"}, ""}, {"y", {"n"}, ""}},
           .tags = {{"x", {"o"}, ""}}},
            "y n@digest; z m@digest; x o@tag; a#"},
           {{.insecure = {}, .blocked = {}, .digests = {{"s", {"m"}, ""}}, .tags = {{"s", {"m"}, ""}}},
            "s m@digest m@tag"},
           {{.insecure = {}, .blocked = {}, .digests = {{"s", {"m"}, "NeverContactSource"}}, .tags = {}},
            "s# m@digest"},
           {{.insecure = {}, .blocked = {}, .digests = {}, .tags = {{"s", {"m"}, "NeverContactSource"}}}, "s# m@tag"},
       }) {
    EXPECT_EQ(*Edited(row.wanted), row.entries);
  }
}

TEST(Edit, MarksEntriesInsideOfAScope) {
  EXPECT_EQ(*Edited({.insecure = {"*.test"},
                     .blocked = {"a.test/ns", "b"},
                     .digests = {{"r", {"m.test/r", "n"}, ""}},
                     .tags = {}}),
            "r m.test/r!@digest n@digest; a.test/ns!#; b#; *.test!");
  EXPECT_EQ(*Edited({.insecure = {"a/ns"}, .blocked = {"a"}, .digests = {}, .tags = {}}), "a#; a/ns!#");
}

TEST(Edit, GivesEntriesInsideOfASourceItsMirrors) {
  EXPECT_EQ(*Edited({.insecure = {"m", "r/ns/x"}, .blocked = {}, .digests = {{"r/ns", {"m/ns"}, ""}}, .tags = {}}),
            "r/ns m/ns!@digest; m!; r/ns/x! m/ns/x!@digest");
  EXPECT_EQ(*Edited({.insecure = {}, .blocked = {}, .digests = {{"r", {"m"}, ""}, {"r/a", {"n"}, ""}}, .tags = {}}),
            "r m@digest; r/a n@digest");
  EXPECT_EQ(*Edited({.insecure = {}, .blocked = {"r/a"}, .digests = {{"r", {"m"}, ""}}, .tags = {{"r", {"o"}, ""}}}),
            "r m@digest o@tag; r/a# m/a@digest o/a@tag");
}

TEST(Edit, FailsForAnEntryInsideOfAWildcardWithMirrors) {
  const auto edited =
      Edited({.insecure = {}, .blocked = {"a.w.test"}, .digests = {{"*.w.test", {"m"}, ""}}, .tags = {}});
  ASSERT_FALSE(edited);
  EXPECT_EQ(edited.error().message(),
            "internal error: mirrorsAdjustedForNestedScope for a wildcard scope \"*.w.test\"");
}

TEST(Edit, KeepsEntriesOfTheTemplate) {
  RegistriesConf conf =
      *ReadRegistriesConf("[[registry]]\nprefix = \"p\"\nlocation = \"l\"\n[[registry]]\nlocation = \"k\"\n");
  EXPECT_EQ(*Edited({.insecure = {"p", "l"}, .blocked = {"k"}, .digests = {}, .tags = {}}, conf), "p!; k#; l!");
}

TEST(Edit, LimitsTheMirrorsThatEntriesInherit) {
  WantedRegistries wanted;
  Names mirrors;
  for (int i = 0; i < 400; ++i) {
    mirrors.push_back("m" + std::to_string(i));
    wanted.blocked.push_back("r/" + std::to_string(i));
  }
  wanted.digests = {{"r", mirrors, ""}};
  const auto edited = Edited(wanted);
  ASSERT_FALSE(edited);
  EXPECT_EQ(edited.error().kind(), ErrorKind::kUnconvertible);
  EXPECT_EQ(edited.error().message(),
            "the blocked and insecure registries inside of mirrored sources, such as \"r\", need more than 100000 "
            "mirrors together; name fewer of these registries, or fewer mirrors");
  wanted.blocked.resize(250);
  EXPECT_TRUE(Edited(wanted));
}

TEST(Edit, GivesAnEntryTheMirrorsOfTheFirstSourceAroundIt) {
  EXPECT_EQ(*Edited({.insecure = {},
                     .blocked = {"r/a/b", "r/a"},
                     .digests = {{"r", {"m"}, ""}, {"r/a/b/c", {"n"}, ""}},
                     .tags = {{"r/a", {"o"}, ""}}}),
            "r m@digest; r/a/b/c# n@digest; r/a# o@tag; r/a/b# m/a/b@digest");
}

// Quadratic work would take minutes.
TEST(Edit, TakesLittleTimeForManyScopes) {
  WantedRegistries wanted;
  wanted.digests = {{"r", {"m"}, ""}};
  constexpr int kMany = 50'000;
  for (int i = 0; i < kMany; ++i) {
    // The scopes have the same length, so that none begins with another one.
    wanted.blocked.push_back("r/" + std::to_string(100'000 + i));
    wanted.insecure.push_back("s/" + std::to_string(100'000 + i));
  }
  const std::string entries = ValueOf(Edited(wanted));
  EXPECT_TRUE(entries.starts_with("r m@digest; r/100000# m/100000@digest; r/100001# m/100001@digest; "));
  EXPECT_TRUE(entries.ends_with("; s/149998!; s/149999!"));
}

// Returns the scope of the entry that FindRegistry() returns for a name, or "".
std::string Found(const Names& scopes, std::string_view name) {
  RegistriesConf conf;
  for (const std::string& scope : scopes) {
    Registry& registry = conf.registries.emplace_back();
    (scope.starts_with("*.") ? registry.prefix : registry.endpoint.location) = scope;
  }
  const Registry* const found = FindRegistry(conf, name);
  return found == nullptr ? "" : found->scope();
}

TEST(FindRegistry, FindsTheLongestScopeThatMatches) {
  EXPECT_EQ(Found({"r.test", "r.test/ns", "r.test/other"}, "r.test/ns/app"), "r.test/ns");
  EXPECT_EQ(Found({"r.test", "r.test/n"}, "r.test/ns/app"), "r.test");
  EXPECT_EQ(Found({"r.test"}, "r.test:5000/app"), "r.test");
  EXPECT_EQ(Found({"*.test", "*.r.test"}, "a.r.test/app"), "*.r.test");
  EXPECT_EQ(Found({"*.test"}, "r.example/a.test"), "");
  EXPECT_EQ(Found({"s.test", "*.test"}, "s.test/app"), "*.test");
  EXPECT_EQ(Found({"t.test"}, "s.test/app"), "");
  EXPECT_EQ(Found({}, "s.test/app"), "");
}

TEST(PullSources, AreTheMirrorsForTheImageAndTheRegistryItself) {
  const std::string digest = "@sha256:" + std::string(64, 'a');
  Registry entry;
  entry.endpoint.location = "r.test/ns";
  entry.mirrors = {{.location = "all.test", .insecure = false, .pull_from_mirror = ""},
                   {.location = "digest.test/x", .insecure = false, .pull_from_mirror = "digest-only"},
                   {.location = "tag.test", .insecure = false, .pull_from_mirror = "tag-only"}};
  const auto repositories = [&](const std::string& image) {
    const auto sources = PullSources(entry, image);
    if (!sources) return Names{sources.error().message()};
    Names names;
    for (const PullSource& source : *sources) names.push_back(source.repository);
    return names;
  };
  EXPECT_EQ(repositories("r.test/ns/app" + digest), (Names{"all.test/app", "digest.test/x/app", "r.test/ns/app"}));
  EXPECT_EQ(repositories("r.test/ns/app:1"), (Names{"all.test/app", "tag.test/app", "r.test/ns/app"}));
  EXPECT_EQ(repositories("r.test/ns:1"), (Names{"rewriting reference: repository name must be canonical"}));
  EXPECT_EQ(repositories("o.test/app"), (Names{"invalid prefix 'r.test/ns' for reference 'o.test/app'"}));
  entry.mirror_by_digest_only = true;
  EXPECT_EQ(repositories("r.test/ns/app:1"), (Names{"r.test/ns/app"}));
  entry = {};
  entry.prefix = "*.test";
  EXPECT_EQ(repositories("r.test/app:1"), (Names{"r.test/app"}));
}

TEST(CheckAcceptedByTools, RefusesEntriesThatToolsCannotRead) {
  struct Row {
    std::string_view text;
    std::string_view problem;
  };
  for (const Row& row : {
           Row{"location = \"r.test\"", ""},
           {"prefix = \"*.test\"", ""},
           {"prefix = \"\"", "invalid condition: both location and prefix are unset"},
           {"prefix = \"p.test\"",
            "invalid condition: location is unset and prefix is not in the format: *.example.com"},
           {"location = \"http://r.test\"", "invalid location 'http://r.test': URI schemes are not supported"},
           {"prefix = \"*.test/ns\"",
            "Wildcarded prefix should be in the format: *.example.com. Current prefix \"*.test/ns\" is incorrectly "
            "formatted"},
           {"location = \"r.test\"\nmirror = [{location = \"\"}]", "invalid condition: mirror location is unset"},
       }) {
    const auto conf = ReadRegistriesConf("[[registry]]\n" + std::string(row.text));
    ASSERT_TRUE(conf) << row.text;
    const auto checked = CheckAcceptedByTools(*conf);
    EXPECT_EQ(checked ? "" : checked.error().message(), row.problem) << row.text;
  }
}

constexpr std::string_view kAll = R"(unqualified-search-registries = ["a", "b"]
credential-helpers = []
short-name-mode = "enforcing"
additional-layer-store-auth-helper = "h"

[[registry]]
  prefix = "*.w.test"
  blocked = true
  mirror-by-digest-only = true

[[registry]]
  prefix = ""
  location = "r.test"
  insecure = true
  pull-from-mirror = "all"

  [[registry.mirror]]
    location = "m.test"
    insecure = true
    pull-from-mirror = "digest-only"

[aliases]
  app = "r.test/app"
)";

TEST(ReadRegistriesConf, ReadsAllKeysThatAreWritten) {
  const auto conf = ReadRegistriesConf(kAll);
  ASSERT_TRUE(conf) << conf.error().message();
  EXPECT_EQ(Write(*conf), kAll);
}

TEST(Write, LeavesOutAbsentLists) {
  EXPECT_EQ(Write(*ReadRegistriesConf("# Nothing.\nunknown = 1\n")),
            "short-name-mode = \"\"\nadditional-layer-store-auth-helper = \"\"\n");
}

TEST(ReadRegistriesConf, RefusesOtherTypes) {
  for (const std::string_view wrong :
       {"registry = 1", "registry = [1]", "[[registry]]\nblocked = 1", "[[registry]]\nmirror = \"m\"",
        "[[registry]]\nmirror = [{location = 1}]", "aliases = 1", "[aliases]\na = 1", "short-name-mode = 1", "x"}) {
    EXPECT_FALSE(ReadRegistriesConf(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace pintle::generated
