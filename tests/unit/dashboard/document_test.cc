// SPDX-License-Identifier: Apache-2.0
#include "dashboard/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/dashboard/sample.h"

namespace pintle::dashboard {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

std::string PieceNamed(const Contents& contents, std::string_view id) {
  for (const Piece& piece : PiecesOf(contents)) {
    if (piece.id == id) return piece.html;
  }
  ADD_FAILURE() << "there is no piece " << id;
  return "";
}

TEST(Document, CountsThePoolsAndTheActivitiesOfTheirNodes) {
  const Contents contents =
      ContentsWith({Entry("a", Activity::kDone), Entry("b", Activity::kRebooting), Entry("c", Activity::kDone)});
  EXPECT_THAT(PieceNamed(contents, "summary"), HasSubstr("1 pool with 3 nodes: 2 done, 1 rebooting."));
  EXPECT_THAT(PieceNamed(contents, "pool-worker"), HasSubstr("<progress max=\"3\" value=\"2\""));
  EXPECT_THAT(PieceNamed(ContentsWith({}), "summary"), HasSubstr("1 pool with 0 nodes."));
  EXPECT_THAT(PieceNamed(ContentsWith({}), "pool-worker"), HasSubstr("No nodes. The target is <code>rendered-new<"));
}

TEST(Document, NamesWhatIsNotReadYetInPlaceOfPools) {
  Contents contents;
  contents.unread_kinds = "nodes, pods";
  EXPECT_THAT(PieceNamed(contents, "summary"), HasSubstr("Not read from the API server yet: nodes, pods."));
}

TEST(Document, ListsWhatNeedsAttention) {
  Contents contents = ContentsWith({Entry("a", Activity::kDegraded, "disk full"), Entry("b", Activity::kDone)});
  contents.cluster.pools[0].conditions = {{"PausedPending", "2 nodes wait"}};
  contents.cluster.certificates = {{"CN=soon", "ca", kNow + std::chrono::days(3)},
                                   {"CN=later", "ca", kNow + std::chrono::days(300)}};
  const std::string attention = PieceNamed(contents, "attention");
  EXPECT_THAT(attention, HasSubstr("is degraded: disk full"));
  EXPECT_THAT(attention, HasSubstr("Pool worker: PausedPending: 2 nodes wait"));
  EXPECT_THAT(attention, HasSubstr("CN=soon"));
  EXPECT_THAT(attention, Not(HasSubstr("CN=later")));
  EXPECT_THAT(PieceNamed(contents, "certificates"), HasSubstr("<td class=\"number\">300</td>"));
  EXPECT_THAT(PieceNamed(ContentsWith({}), "attention"), HasSubstr("Nothing needs attention."));
}

RolloutEntry WaitingRollout() {
  RolloutEntry rollout;
  rollout.policy = "workers";
  rollout.phase = "AwaitingApproval";
  rollout.message = "wave 2 waits for `kubectl pintle approve worker`";
  rollout.since = kNow;
  rollout.wave = 2;
  rollout.waves = {"canary", "tenth", "all other nodes"};
  rollout.nodes = 40;
  rollout.updated = 11;
  return rollout;
}

TEST(Document, ShowsHowFarARolloutIsByWaves) {
  Contents contents = ContentsWith({Entry("a", Activity::kDone)});
  EXPECT_THAT(PieceNamed(contents, "pool-worker"), Not(HasSubstr("rollout")));
  contents.cluster.pools[0].rollout = WaitingRollout();
  const std::string pool = PieceNamed(contents, "pool-worker");
  EXPECT_THAT(pool, HasSubstr("Wave 2 of 3, 11 of 40 nodes: the rollout by workers waits for an approval, since <time "
                              "datetime=\"2027-01-15T08:00:00Z\">"));
  EXPECT_THAT(pool, HasSubstr("wave 2 waits for `kubectl pintle approve worker`. "));
  EXPECT_THAT(pool, HasSubstr("<li class=\"done\"><span class=\"sign\" aria-hidden=\"true\">✓</span> canary<"));
  EXPECT_THAT(pool, HasSubstr("<li class=\"updating\" aria-current=\"step\">"));
  EXPECT_THAT(pool, HasSubstr("all other nodes<span class=\"unseen\">: to come</span>"));
  EXPECT_THAT(PieceNamed(contents, "attention"),
              HasSubstr("<li>Pool worker: the rollout by workers waits for an approval: wave 2 waits for"));
}

TEST(Document, ShowsWhenTheWindowOpensThatARolloutWaitsFor) {
  Contents contents = ContentsWith({Entry("a", Activity::kDone)});
  contents.cluster.pools[0].rollout = WaitingRollout();
  contents.cluster.pools[0].rollout->phase = "AwaitingWindow";
  contents.cluster.pools[0].rollout->window_opens = kNow + std::chrono::hours(3);
  EXPECT_THAT(PieceNamed(contents, "pool-worker"),
              HasSubstr("The window opens at <time datetime=\"2027-01-15T11:00:00Z\">"));
  EXPECT_THAT(PieceNamed(contents, "attention"), HasSubstr("Nothing needs attention."));
}

TEST(Document, ShowsHostileTextsAsText) {
  const std::string hostile = "<script>alert(\"x\")</script>&'\u202Eevil\x01";
  Contents contents = ContentsWith({Entry(hostile, Activity::kDegraded, hostile)});
  contents.cluster.pools[0].name = contents.cluster.pools[0].target = hostile;
  contents.cluster.pools[0].conditions = {{hostile, hostile}};
  contents.cluster.certificates = {{hostile, hostile, kNow}};
  contents.timeline = {{kNow, hostile}};
  RolloutEntry rollout = WaitingRollout();
  rollout.policy = rollout.message = hostile;
  rollout.waves = {hostile, hostile};
  contents.cluster.pools[0].rollout = rollout;
  contents.unread_kinds = "";
  const std::string html = DocumentOf(contents, hostile, hostile);
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  EXPECT_THAT(html, Not(HasSubstr("\"x\"")));
  EXPECT_THAT(html, Not(HasSubstr("\u202E")));
  EXPECT_THAT(html, Not(HasSubstr("\x01")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;\\xE2\\x80\\xAEevil\\x01"));
}

TEST(Document, CutsALongExplanationExceptInTheDetailsOfItsNode) {
  const std::string text(64 << 10, 'x');
  const Contents contents = ContentsWith({Entry("a", Activity::kDegraded, text)});
  EXPECT_LT(DocumentOf(contents, "1", "").size(), 8'000U);
  EXPECT_THAT(DocumentOf(contents, "1", "a"), HasSubstr(text));
}

TEST(Document, ShowsTheDetailsOfANode) {
  const Contents contents = ContentsWith({Entry("a", Activity::kDraining)});
  EXPECT_THAT(DocumentOf(contents, "1", "a"), HasSubstr("<dt>desired config</dt><dd><code>rendered-new</code></dd>"));
  EXPECT_THAT(DocumentOf(contents, "1", "b"), HasSubstr("No pool has a node b."));
  EXPECT_THAT(DocumentOf(contents, "1", ""), Not(HasSubstr("details")));
}

TEST(Document, NamesTheCellOfTheNodeInTheDetails) {
  const Contents contents = ContentsWith({Entry("a", Activity::kDraining)});
  EXPECT_THAT(DocumentOf(contents, "1", "a"),
              HasSubstr("<section id=\"details\" class=\"draining\" data-cell=\"node-a\""));
}

TEST(Document, HasAllPiecesEachOnceAndWithItsId) {
  const Contents contents = ContentsWith({Entry("a", Activity::kDone), Entry("b", Activity::kDone)});
  const std::string html = DocumentOf(contents, "1", "");
  std::set<std::string> ids;
  for (const Piece& piece : PiecesOf(contents)) {
    EXPECT_THAT(html, HasSubstr(piece.html));
    EXPECT_THAT(piece.html, HasSubstr("id=\"" + piece.id + "\""));
    EXPECT_TRUE(ids.insert(piece.id).second) << piece.id;
  }
}

TEST(Document, ShowsNamesInSmallPoolsAndOnlySignsInLargeOnes) {
  EXPECT_THAT(PieceNamed(ContentsWith({Entry("a", Activity::kDone)}), "node-a"), HasSubstr("<span class=\"name\">a<"));
  std::vector<NodeEntry> many;
  for (int i = 100; i < 200; ++i) many.push_back(Entry("n" + std::to_string(i), Activity::kDone));
  EXPECT_THAT(PieceNamed(ContentsWith(many), "node-n100"), HasSubstr("<span class=\"unseen\">n100<"));
}

TEST(Changes, AreThePiecesThatDiffer) {
  const auto before = PiecesOf(ContentsWith({Entry("a", Activity::kDone), Entry("b", Activity::kWaiting)}));
  const auto after = PiecesOf(ContentsWith({Entry("a", Activity::kDone), Entry("b", Activity::kUpdating)}));
  const auto changes = ChangesOf(before, after);
  ASSERT_TRUE(changes);
  EXPECT_THAT(*changes,
              ElementsAre(Field(&Piece::id, "summary"), Field(&Piece::id, "pool-worker"), Field(&Piece::id, "node-b")));
  EXPECT_THAT(ChangesOf(after, after), testing::Optional(testing::IsEmpty()));
}

// The script renews the details of a node when the cell of the node changes.
TEST(Changes, IncludeTheCellOfANodeWhoseDetailsDiffer) {
  const NodeEntry before = Entry("a", Activity::kDraining, "pod x");
  NodeEntry other_config = before;
  other_config.config = "rendered-other";
  NodeEntry other_target = before;
  other_target.desired_config = "rendered-other";
  for (const NodeEntry& after : {Entry("a", Activity::kDraining, "pod y"), other_config, other_target}) {
    const auto changes = ChangesOf(PiecesOf(ContentsWith({before})), PiecesOf(ContentsWith({after})));
    ASSERT_TRUE(changes);
    EXPECT_THAT(*changes, testing::Contains(Field(&Piece::id, "node-a")));
  }
}

TEST(Changes, AreUnknownIfTheListsOfPiecesDiffer) {
  const auto before = PiecesOf(ContentsWith({Entry("a", Activity::kDone)}));
  EXPECT_EQ(ChangesOf(before, PiecesOf(ContentsWith({Entry("b", Activity::kDone)}))), std::nullopt);
  EXPECT_EQ(ChangesOf(before, PiecesOf(ContentsWith({}))), std::nullopt);
}

}  // namespace
}  // namespace pintle::dashboard
