// SPDX-License-Identifier: Apache-2.0
#include "generated/scopes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace pintle::generated {
namespace {

struct Pair {
  std::string_view inner;
  std::string_view outer;
  bool is_inside;
};

TEST(IsInside, ComparesPathsAndDomains) {
  for (const Pair& row : {
           Pair{"r.test", "r.test", true},
           {"r.test/ns", "r.test", true},
           {"r.test/ns/app", "r.test/ns", true},
           {"r.test", "r.test/ns", false},
           {"r.test/nsx", "r.test/ns", false},
           {"r.test2", "r.test", false},
           {"r.test:5000", "r.test", false},
           {"a.w.test", "*.w.test", true},
           {"a.b.w.test/ns/app", "*.w.test", true},
           {"a.w.test:5000/ns", "*.w.test", true},
           {"*.b.w.test", "*.w.test", true},
           {"*.w.test", "*.w.test", true},
           {"w.test", "*.w.test", false},
           {"aw.test", "*.w.test", false},
           {"r.test/a.w.test", "*.w.test", false},
           {"r.test/a.w.test:1", "*.w.test", false},
           {"*.w.test", "a.w.test", false},
       }) {
    EXPECT_EQ(IsInside(row.inner, row.outer), row.is_inside) << row.inner << " in " << row.outer;
  }
}

TEST(ScopeSet, FindsTheScopesThatIsInsideFinds) {
  const std::vector<std::string> scopes = {"r.test",
                                           "r.test/ns",
                                           "r.test/ns/app",
                                           "r.test:5000",
                                           "r.test:5000/ns",
                                           "*.test",
                                           "*.w.test",
                                           "*.b.w.test",
                                           "*.",
                                           "a/b",
                                           "a",
                                           "a.w.test",
                                           "*.w.test/x",
                                           "",
                                           "/a",
                                           "a//b",
                                           "a/",
                                           "x:y/z"};
  std::vector<std::string> inner_scopes = scopes;
  for (const char* more :
       {"a.b.w.test:5000/ns/app", "r.test/a.w.test:1", "w.test", "a/b/c", "a/bc", "*.c.w.test/x/y"}) {
    inner_scopes.emplace_back(more);
  }
  const ScopeSet set(scopes);
  for (const std::string& inner : inner_scopes) {
    std::vector<std::string_view> wanted;
    for (const std::string& scope : scopes) {
      if (IsInside(inner, scope)) wanted.emplace_back(scope);
    }
    EXPECT_THAT(set.Around(inner), testing::UnorderedElementsAreArray(wanted)) << inner;
  }
}

TEST(IsValidScope, HasAnAsteriskOnlyAtTheBeginning) {
  for (const std::string_view scope : {"r.test", "r.test:5000/ns", "*.w.test", "a<b>", "*."}) {
    EXPECT_TRUE(IsValidScope(scope)) << scope;
  }
  for (const std::string_view scope : {"", "*", "a*", "x.*.test", "*.a.test/ns", "*.a.test:1", "*.a@b", "*.*.test"}) {
    EXPECT_FALSE(IsValidScope(scope)) << scope;
  }
}

TEST(CheckScopes, NamesTheFirstWrongScope) {
  const std::vector<std::string> scopes = {"a.test", "*\"", ""};
  EXPECT_EQ(CheckScopes("insecure", scopes).error().message(), R"(invalid entry for insecure registries "*\"")");
  EXPECT_TRUE(CheckScopes("blocked", {}));
}

TEST(PlaceInMirror, AppendsThePathBelowTheScope) {
  EXPECT_EQ(PlaceInMirror("m.test/ns", "r.test/ns", "r.test/ns/app"), "m.test/ns/app");
  EXPECT_EQ(PlaceInMirror("m.test", "r.test", "r.test"), "m.test");
  EXPECT_EQ(PlaceInMirror("m.test", "*.w.test", "a.w.test/ns"), "m.test/ns");
  EXPECT_EQ(PlaceInMirror("m.test", "*.w.test", "a.w.test"), "m.test");
}

}  // namespace
}  // namespace pintle::generated
