// SPDX-License-Identifier: Apache-2.0
#include "generated/mirrors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::generated {
namespace {

using api::Mirrors;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using Names = std::vector<std::string>;

Mirrors MirrorsOf(std::string source, Names mirrors, std::string policy = "") {
  return {.source = std::move(source), .mirrors = std::move(mirrors), .source_policy = std::move(policy)};
}

// A cluster that has one object of each kind.
struct Cluster {
  std::vector<api::MirrorSet> content_source_policies{1};
  std::vector<api::MirrorSet> digest_sets{1};
  std::vector<api::MirrorSet> tag_sets{1};

  Cluster& AddContentMirrors(Mirrors mirrors) {
    content_source_policies[0].spec.repository_digest_mirrors.push_back(std::move(mirrors));
    return *this;
  }
  Cluster& AddDigestMirrors(Mirrors mirrors) {
    digest_sets[0].spec.image_digest_mirrors.push_back(std::move(mirrors));
    return *this;
  }
  Cluster& AddTagMirrors(Mirrors mirrors) {
    tag_sets[0].spec.image_tag_mirrors.push_back(std::move(mirrors));
    return *this;
  }
  MirrorObjects Objects() const { return {content_source_policies, digest_sets, tag_sets}; }
};

Names MergedOf(const std::vector<Names>& lists) {
  Cluster cluster;
  for (const Names& list : lists) cluster.AddDigestMirrors(MirrorsOf("src.test", list));
  const auto merged = MergedDigestMirrors(cluster.Objects());
  return merged.empty() ? Names() : merged.at(0).mirrors;
}

TEST(MergedDigestMirrors, KeepAllOrdersThatAgree) {
  struct Row {
    std::vector<Names> lists;
    Names merged;
  };
  for (const Row& row : {
           Row{{{"b", "c"}, {"a", "b"}}, {"a", "b", "c"}},
           {{{"z"}, {"m"}, {"a"}}, {"a", "m", "z"}},
           {{{"a", "b"}, {"b", "a"}}, {"a", "b"}},
           {{{"a", "b", "c"}, {"c", "a"}, {"d", "b"}}, {"d", "a", "b", "c"}},
           {{{"z", "b"}, {"y", "a"}}, {"y", "z", "a", "b"}},
           {{{"a", "a"}}, {"a"}},
           // The source is tried last, unless the list of mirrors has a place for it.
           {{{"m", "src.test"}}, {"m"}},
           {{{"m", "src.test", "n"}}, {"m", "src.test", "n"}},
           {{{"src.test", "m"}, {"n"}}, {"n", "src.test", "m"}},
           // An entry whose only mirror is its source has no effect.
           {{{"src.test"}}, {}},
           {{{}}, {}},
       }) {
    EXPECT_EQ(MergedOf(row.lists), row.merged) << testing::PrintToString(row.lists);
  }
}

TEST(MergedDigestMirrors, AreSortedBySourceAndComeFromBothKinds) {
  const Cluster cluster = Cluster()
                              .AddContentMirrors(MirrorsOf("z.test", {"i"}))
                              .AddDigestMirrors(MirrorsOf("z.test", {"d"}))
                              .AddDigestMirrors(MirrorsOf("a.test", {"d"}, "NeverContactSource"))
                              .AddTagMirrors(MirrorsOf("t.test", {"t"}));
  const auto merged = MergedDigestMirrors(cluster.Objects());
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].source, "a.test");
  EXPECT_TRUE(merged[0].never_contact_source);
  EXPECT_EQ(merged[1].source, "z.test");
  EXPECT_FALSE(merged[1].never_contact_source);
  EXPECT_THAT(merged[1].mirrors, ElementsAre("d", "i"));
}

TEST(MergedTagMirrors, AreMirrorsOfTagsOnly) {
  const Cluster cluster =
      Cluster().AddDigestMirrors(MirrorsOf("a.test", {"d"})).AddTagMirrors(MirrorsOf("t.test", {"t"}));
  const auto merged = MergedTagMirrors(cluster.Objects());
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(merged[0].source, "t.test");
}

std::string ProblemOf(const Cluster& cluster) {
  const auto checked = CheckMirrors(cluster.Objects());
  return checked ? "" : checked.error().message();
}

TEST(CheckMirrors, NamesATextThatIsNoRegistry) {
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(MirrorsOf("*.w.test", {"m.test:5000/ns"}))), "");
  for (const std::string source :
       {"bad source", "Bad_Source!", "r.test/a:tag", "", "*", "*.w.test/ns", "*.w.test:1", "[2001:db8::1]:5000/a"}) {
    const std::string problem = "invalid format for source \"" + source + "\"";
    EXPECT_EQ(ProblemOf(Cluster().AddContentMirrors(MirrorsOf(source, {"m.test"}))), problem);
    EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(MirrorsOf(source, {"m.test"}))), problem);
    EXPECT_EQ(ProblemOf(Cluster().AddTagMirrors(MirrorsOf(source, {"m.test"}))), problem);
  }
  for (const std::string mirror : {"http://m.test", "*.m.test", "", "m.test/", "[2001:db8::1]:5000/a"}) {
    EXPECT_EQ(ProblemOf(Cluster().AddTagMirrors(MirrorsOf("r.test", {"n.test", mirror}))),
              "invalid format for mirror \"" + mirror + "\"");
  }
}

TEST(CheckMirrors, RefusesContradictions) {
  constexpr std::string_view kConflict =
      "conflicting mirrorSourcePolicy is set for the same source \"s.test\" in imagedigestmirrorsets, "
      "imagetagmirrorsets, or imagecontentsourcepolicies";
  const Mirrors never = MirrorsOf("s.test", {"m.test"}, "NeverContactSource");
  const Mirrors allow = MirrorsOf("s.test", {"m.test"}, "AllowContactingSource");
  const Mirrors without_policy = MirrorsOf("s.test", {"m.test"});
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(never).AddTagMirrors(never)), "");
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(allow).AddTagMirrors(without_policy)), "");
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(never).AddTagMirrors(allow)), kConflict);
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(never).AddDigestMirrors(without_policy)), kConflict);
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(never).AddContentMirrors(without_policy)), kConflict);
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(MirrorsOf("s.test", {"m.test", "s.test"}, "NeverContactSource"))),
            "cannot set mirrorSourcePolicy: NeverContactSource if the source \"s.test\" is one of the mirrors");
}

// The operator checks one source after the other, those of digests first.
TEST(CheckMirrors, ReportsTheFirstProblemInTheOrderOfTheOperator) {
  const Mirrors never = MirrorsOf("s.test", {"m.test"}, "NeverContactSource");
  const Mirrors conflicting = MirrorsOf("s.test", {"bad mirror"});
  const Mirrors bad_source = MirrorsOf("bad source", {"bad mirror"});
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(MirrorsOf("s.test", {"bad mirror"})).AddDigestMirrors(bad_source)),
            "invalid format for mirror \"bad mirror\"");
  EXPECT_EQ(ProblemOf(Cluster().AddContentMirrors(bad_source).AddDigestMirrors(MirrorsOf("s.test", {"bad mirror"}))),
            "invalid format for mirror \"bad mirror\"");
  EXPECT_EQ(ProblemOf(Cluster().AddTagMirrors(bad_source).AddContentMirrors(MirrorsOf("s.test", {"bad mirror"}))),
            "invalid format for mirror \"bad mirror\"");
  // A contradiction with an earlier set comes before the mirrors of the later set, and before a later source.
  EXPECT_THAT(ProblemOf(Cluster().AddDigestMirrors(never).AddDigestMirrors(conflicting).AddTagMirrors(bad_source)),
              StartsWith("conflicting mirrorSourcePolicy is set for the same source \"s.test\""));
  EXPECT_EQ(ProblemOf(Cluster().AddDigestMirrors(MirrorsOf("s.test", {"s.test", "bad mirror"}, "NeverContactSource"))),
            "cannot set mirrorSourcePolicy: NeverContactSource if the source \"s.test\" is one of the mirrors");
}

}  // namespace
}  // namespace pintle::generated
