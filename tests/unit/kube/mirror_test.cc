// SPDX-License-Identifier: Apache-2.0
#include "kube/mirror.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <utility>

#include "event/loop.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/kube/bad_answers.h"
#include "unit/kube/scripted_server.h"

namespace pintle::kube {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string MirroredNodeText(const std::string& name, const std::string& version, const std::string& uid = "u") {
  return fmt::format(R"({{"metadata":{{"name":"{}","uid":"{}","resourceVersion":"{}"}}}})", name, uid, version);
}

std::string ListText(const std::string& items, const std::string& version) {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"items":[{}]}})", version, items);
}

std::string EventText(const std::string& type, const std::string& object) {
  return fmt::format(R"({{"type":"{}","object":{}}})", type, object) + "\n";
}

const std::string kExpired = R"({"kind":"Status","message":"too old","reason":"Expired","code":410})";

class MirrorTest : public testing::Test {
 protected:
  MirrorTest() { ::setenv("no_proxy", "*", 1); }

  // Follows until the listener has been called `happenings` times.
  void Follow(ScriptedServer& server, std::size_t happenings) {
    if (!client_) client_ = ValueOf(Client::Create(*loop_, server.access()));
    wanted_ = happenings;
    if (!mirror_) mirror_ = std::make_unique<Mirror<api::Node>>(*client_, Selection{}, Listener(), settings_);
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_))) << testing::PrintToString(events_);
  }

  Mirror<api::Node>::Listener Listener() {
    return {.added = [this](const api::Node& node) { Record("added " + Words(node)); },
            .changed = [this](const api::Node& before,
                              const api::Node& now) { Record("changed " + Words(before) + " to " + Words(now)); },
            .removed = [this](const api::Node& node) { Record("removed " + Words(node)); },
            .synced = [this] { Record("synced"); },
            .trouble = [this](const Error& error) { Record("trouble: " + error.message()); }};
  }

  static std::string Words(const api::Node& node) { return node.metadata.name + "@" + node.metadata.resource_version; }

  void Record(const std::string& happening) {
    events_.push_back(happening);
    if (events_.size() == wanted_) loop_->Stop();
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  FeedSettings settings_ = {.page = {.attempts = 1, .backoff = kNoTime}, .backoff = kNoTime};
  std::size_t wanted_ = 0;
  std::vector<std::string> events_;
  std::optional<Client> client_;
  std::unique_ptr<Mirror<api::Node>> mirror_;
};

TEST_F(MirrorTest, HasListedAndWatchedObjects) {
  ScriptedServer server(
      {{.body = ListText(MirroredNodeText("a", "1") + "," + MirroredNodeText("b", "2"), "5")},
       {.body = EventText("ADDED", MirroredNodeText("c", "6")) + EventText("MODIFIED", MirroredNodeText("a", "7")) +
                EventText("DELETED", MirroredNodeText("b", "8")),
        .ending = Ending::kNever,
        .piece = 7}});
  Follow(server, 6);
  EXPECT_THAT(events_,
              ElementsAre("added a@1", "added b@2", "synced", "added c@6", "changed a@1 to a@7", "removed b@2"));
  EXPECT_TRUE(mirror_->is_synced());
  EXPECT_EQ(mirror_->objects().size(), 2U);
  std::vector<std::string> objects;
  for (const auto& [name, node] : mirror_->objects()) objects.push_back(name.ToString() + ": " + Words(node));
  EXPECT_THAT(objects, ElementsAre("a: a@7", "c: c@6"));
  EXPECT_EQ(mirror_->Find({"", "a"})->metadata.resource_version, "7");
  EXPECT_EQ(mirror_->Find({"", "b"}), nullptr);
  EXPECT_THAT(server.request_lines()[1],
              HasSubstr("GET /api/v1/nodes?watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds="));
}

TEST_F(MirrorTest, ContinuesFromTheLastBookmarkOrEvent) {
  ScriptedServer server({{.body = ListText("", "5")},
                         {.body = EventText("BOOKMARK", MirroredNodeText("", "9"))},
                         {.body = EventText("ADDED", MirroredNodeText("a", "11"))},
                         {.ending = Ending::kCutOff},
                         {.body = EventText("ADDED", MirroredNodeText("b", "12"))}});
  Follow(server, 4);
  EXPECT_EQ(events_[0], "synced");
  EXPECT_EQ(events_[1], "added a@11");
  EXPECT_THAT(events_[2], HasSubstr("trouble: watching nodes: the connection to 127.0.0.1"));
  EXPECT_EQ(events_[3], "added b@12");
  const auto lines = server.request_lines();
  EXPECT_THAT(lines[2], HasSubstr("resourceVersion=9&"));
  EXPECT_THAT(lines[3], HasSubstr("resourceVersion=11&"));
  EXPECT_THAT(lines[4], HasSubstr("resourceVersion=11&"));
}

TEST_F(MirrorTest, IgnoresAnIncompleteEvent) {
  const std::string event = EventText("ADDED", MirroredNodeText("a", "6"));
  ScriptedServer server({{.body = ListText("", "5")},
                         {.body = event.substr(0, event.size() - 1), .ending = Ending::kCutOff},
                         {.body = event, .ending = Ending::kNever}});
  Follow(server, 3);
  EXPECT_EQ(events_[2], "added a@6");
  EXPECT_THAT(server.request_lines()[2], HasSubstr("resourceVersion=5&"));
}

TEST_F(MirrorTest, ReportsOnlyDifferencesAfterItsVersionHasExpired) {
  ScriptedServer server(
      {{.body = ListText(
            MirroredNodeText("a", "1") + "," + MirroredNodeText("b", "2") + "," + MirroredNodeText("c", "3"), "5")},
       {.body = EventText("ERROR", kExpired), .ending = Ending::kNever},
       {.body = ListText(
            MirroredNodeText("a", "1") + "," + MirroredNodeText("b", "7") + "," + MirroredNodeText("d", "8"), "9")}});
  Follow(server, 8);
  events_.erase(events_.begin(), events_.begin() + 4);
  EXPECT_THAT(events_, ElementsAre("changed b@2 to b@7", "added d@8", "removed c@3", "synced"));
}

TEST_F(MirrorTest, ListsAgainIfAWatchIsRefusedAsTooOld) {
  ScriptedServer server({{.body = ListText("", "5")}, {.status = 410, .body = kExpired}, {.body = ListText("", "6")}});
  Follow(server, 2);
  EXPECT_THAT(events_, ElementsAre("synced", "synced"));
}

TEST_F(MirrorTest, ReportsAnObjectThatWasCreatedAgain) {
  ScriptedServer server({{.body = ListText(MirroredNodeText("a", "1", "old"), "5")},
                         {.status = 410, .body = kExpired},
                         {.body = ListText(MirroredNodeText("a", "6", "new"), "6")}});
  Follow(server, 5);
  EXPECT_THAT(events_, ElementsAre("added a@1", "synced", "removed a@1", "added a@6", "synced"));
}

TEST_F(MirrorTest, KeepsItsObjectsWhileTheServerIsAway) {
  ScriptedServer server({{.body = ListText(MirroredNodeText("a", "1"), "5")},
                         {.status = 500},
                         {.status = 429},
                         {.status = 503},
                         {.body = EventText("ADDED", MirroredNodeText("b", "6")), .ending = Ending::kNever}});
  Follow(server, 6);
  EXPECT_THAT(events_, ElementsAre("added a@1", "synced", "trouble: watching nodes: the answer has status 500",
                                   "trouble: watching nodes: the answer has status 429",
                                   "trouble: watching nodes: the answer has status 503", "added b@6"));
}

TEST_F(MirrorTest, RepeatsTheListUntilItSucceeds) {
  ScriptedServer server({{.status = 403}, {.status = 500}, {.body = "[]"}, {.body = ListText("", "5")}});
  Follow(server, 4);
  EXPECT_EQ(events_[0], "trouble: listing nodes: the answer has status 403");
  EXPECT_EQ(events_[3], "synced");
}

TEST_F(MirrorTest, HasABackoffOfItsOwnForAKindThatTheServerDoesNotHave) {
  // With the wrong pause, the test would take an hour.
  const Backoff::Settings an_hour = {.first = std::chrono::hours(1), .longest = std::chrono::hours(1)};
  settings_.missing_backoff = an_hour;
  ScriptedServer failing({{.status = 500}, {.status = 500}, {.body = ListText("", "5")}});
  Follow(failing, 3);
  EXPECT_EQ(events_.back(), "synced");
  mirror_.reset();
  client_.reset();
  events_.clear();
  std::swap(settings_.backoff, settings_.missing_backoff);
  const Answer missing = StatusAnswer(404, "NotFound", "there is no such kind");
  ScriptedServer lacking({missing, missing, {.body = ListText("", "5")}});
  Follow(lacking, 3);
  EXPECT_EQ(events_.back(), "synced");
}

TEST_F(MirrorTest, NoticesThatAWatchIsSilent) {
  settings_.watch.silence = milliseconds(50);
  ScriptedServer server({{.body = ListText("", "5")},
                         {.ending = Ending::kNever},
                         {.body = EventText("ADDED", MirroredNodeText("a", "6")), .ending = Ending::kNever}});
  Follow(server, 3);
  EXPECT_THAT(events_[1], HasSubstr("sent nothing for 50 ms"));
  EXPECT_EQ(events_[2], "added a@6");
}

TEST_F(MirrorTest, ListsAgainWhenWatchesAreSilentOneAfterTheOther) {
  // A server whose store was restored sends no events for versions that it has not reached yet.
  settings_.watch.silence = milliseconds(50);
  ScriptedServer server({{.body = ListText(MirroredNodeText("a", "4") + "," + MirroredNodeText("b", "5"), "5")},
                         {.ending = Ending::kNever},
                         {.ending = Ending::kNever},
                         {.body = ListText(MirroredNodeText("a", "2"), "3")}});
  Follow(server, 8);
  events_.erase(events_.begin(), events_.begin() + 5);
  EXPECT_THAT(events_, ElementsAre("changed a@4 to a@2", "removed b@5", "synced"));
}

TEST_F(MirrorTest, ListsAgainIfTheServersVersionGoesBack) {
  for (const std::string& past :
       {EventText("BOOKMARK", MirroredNodeText("", "3")), EventText("MODIFIED", MirroredNodeText("a", "2")),
        EventText("DELETED", MirroredNodeText("a", "2"))}) {
    events_.clear();
    mirror_.reset();
    client_.reset();
    ScriptedServer server({{.body = ListText(MirroredNodeText("a", "4"), "5")},
                           {.body = past, .ending = Ending::kNever},
                           {.body = ListText(MirroredNodeText("a", "2"), "3")}});
    Follow(server, 5);
    ASSERT_EQ(events_.size(), 5U);
    EXPECT_THAT(events_[2], HasSubstr("trouble: watching nodes: "));
    events_.erase(events_.begin(), events_.begin() + 3);
    EXPECT_THAT(events_, ElementsAre("changed a@4 to a@2", "synced")) << past;
    mirror_.reset();
  }
}

TEST_F(MirrorTest, SetsAnObjectAsideThatIsNestedTooDeeply) {
  const auto deep = [](const std::string& name, const std::string& version, int levels) {
    const auto depth = static_cast<std::size_t>(levels);
    return fmt::format(
        R"({{"metadata":{{"name":"{}","resourceVersion":"{}","labels":{{"a":"}}b"}}}},"spec":{{"x":{}{}}}}})", name,
        version, std::string(depth, '['), std::string(depth, ']'));
  };
  ScriptedServer server(
      {{.body = ListText(deep("a", "1", 5000) + "," + MirroredNodeText("c", "3"), "5")},
       {.body = EventText("ADDED", deep("b", "6", 198)) + EventText("MODIFIED", deep("c", "7", 300)) +
                EventText("MODIFIED", MirroredNodeText("a", "8")) + EventText("DELETED", deep("c", "9", 300)),
        .ending = Ending::kNever}});
  Follow(server, 7);
  ASSERT_EQ(events_.size(), 7U);
  EXPECT_THAT(events_[0], HasSubstr("trouble: a: decoding a Node from the API server: "));
  EXPECT_THAT(events_[0], HasSubstr("nested more than 200 levels deep"));
  EXPECT_THAT(events_[4], HasSubstr("trouble: c: "));
  events_.erase(events_.begin());
  events_.erase(events_.begin() + 3);
  EXPECT_THAT(events_, ElementsAre("added c@3", "synced", "added b@6", "added a@8", "removed c@3"));
}

TEST_F(MirrorTest, ListsAgainAfterALineThatIsTooLong) {
  ScriptedServer server({{.body = ListText("", "5")},
                         {.body = EventText("ADDED", "{\"a\":\"" + std::string(17 << 20, 'x') + "\"}")},
                         {.body = ListText(MirroredNodeText("a", "6"), "7")}});
  Follow(server, 4);
  EXPECT_EQ(events_[1], "trouble: watching nodes: a line of the watch is longer than 16777216 bytes");
  EXPECT_EQ(events_[2], "added a@6");
}

TEST_F(MirrorTest, ListsAgainAfterAnEventThatItDoesNotUnderstand) {
  ScriptedServer server(
      {{.body = ListText("", "5")}, {.body = "{}\n"}, {.body = ListText(MirroredNodeText("a", "6"), "7")}});
  Follow(server, 4);
  EXPECT_EQ(events_[1], "trouble: watching nodes: an event of the watch has an unknown type or no object");
}

TEST_F(MirrorTest, KeepsAnObjectWhoseNewStateCannotBeRead) {
  const std::string bad = R"({"metadata":{"name":"a","resourceVersion":"6"},"spec":{"unschedulable":1}})";
  ScriptedServer server({{.body = ListText(MirroredNodeText("a", "1"), "5")},
                         {.body = EventText("MODIFIED", bad) + EventText("ADDED", MirroredNodeText("b", "7"))}});
  Follow(server, 4);
  EXPECT_EQ(events_[2], "trouble: a: decoding a Node from the API server: $.spec.unschedulable: must be true or false");
  EXPECT_EQ(mirror_->Find({"", "a"})->metadata.resource_version, "1");
}

TEST_F(MirrorTest, SetsAnUnreadableObjectAsideUntilItIsReadableOrGone) {
  const auto bad = [](const std::string& name, const std::string& version) {
    return fmt::format(R"({{"metadata":{{"name":"{}","resourceVersion":"{}"}},"spec":{{"unschedulable":1}}}})", name,
                       version);
  };
  ScriptedServer server(
      {{.body = ListText(bad("a", "1") + "," + bad("b", "2") + "," + MirroredNodeText("c", "3"), "5")},
       {.body = EventText("MODIFIED", MirroredNodeText("a", "6")) + EventText("DELETED", bad("b", "7")),
        .ending = Ending::kNever}});
  Follow(server, 4);
  EXPECT_THAT(events_[0], HasSubstr("trouble: a: "));
  EXPECT_THAT(events_[1], HasSubstr("trouble: b: "));
  EXPECT_EQ(events_[2], "added c@3");
  ASSERT_EQ(mirror_->unreadable().size(), 2U);
  EXPECT_EQ(mirror_->unreadable().at({"", "b"}).readable_part.metadata.resource_version, "2");
  EXPECT_THAT(mirror_->unreadable().at({"", "b"}).why.message(), HasSubstr("$.spec.unschedulable"));
  Follow(server, 6);
  EXPECT_EQ(events_[4], "added a@6");
  EXPECT_EQ(events_[5], "removed b@2");
  EXPECT_THAT(mirror_->unreadable(), IsEmpty());
}

TEST_F(MirrorTest, RequestsTheSelectedObjects) {
  ScriptedServer server({{.body = ListText("", "5")}});
  client_ = ValueOf(Client::Create(*loop_, server.access()));
  wanted_ = 1;
  mirror_ = std::make_unique<Mirror<api::Node>>(
      *client_, Selection{.label_selector = "a=b", .field_selector = "metadata.name=x"}, Listener(), settings_);
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_EQ(server.request_lines()[0],
            "GET /api/v1/nodes?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=100");
}

TEST_F(MirrorTest, MayBeDestroyedInItsOwnCallback) {
  for (const std::string when : {"added", "changed", "removed", "synced", "trouble"}) {
    events_.clear();
    ScriptedServer server(
        {{.body = ListText(MirroredNodeText("a", "1") + "," + MirroredNodeText("b", "1"), "5")},
         {.body = EventText("MODIFIED", MirroredNodeText("a", "6")) + EventText("DELETED", MirroredNodeText("a", "7")) +
                  EventText("DELETED", MirroredNodeText("b", "8"))},
         {.status = 500}});
    Client client = ValueOf(Client::Create(*loop_, server.access()));
    const auto end = [&](const std::string& now) {
      EXPECT_TRUE(mirror_) << now;
      if (now != when) return;
      mirror_.reset();
      loop_->Stop();
    };
    mirror_ = std::make_unique<Mirror<api::Node>>(
        client, Selection{},
        Mirror<api::Node>::Listener{.added = [&](const auto&) { end("added"); },
                                    .changed = [&](const auto&, const auto&) { end("changed"); },
                                    .removed = [&](const auto&) { end("removed"); },
                                    .synced = [&] { end("synced"); },
                                    .trouble = [&](const Error&) { end("trouble"); }},
        settings_);
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_))) << when;
    event::Settle(*loop_);
  }
}

TEST_F(MirrorTest, RequestsARefusedListOnceBeforeItWaits) {
  settings_.page.attempts = 3;
  ScriptedServer server(std::deque<Answer>(20, Answer{.status = 503}));
  Follow(server, 5);
  EXPECT_EQ(server.requests().size(), 5U);

  Backoff backoff(FeedSettings().backoff, [] { return 0.0; });
  int requests = 1;
  for (milliseconds at = backoff.Next(); at < std::chrono::minutes(1); at += backoff.Next()) ++requests;
  EXPECT_LE(requests, 10);
}

TEST_F(MirrorTest, ContinuesAListAfterAPageWasRefusedOnce) {
  settings_.page.attempts = 3;
  const std::string second = R"({"metadata":{"resourceVersion":"5"},"items":[)" + MirroredNodeText("b", "2") + "]}";
  ScriptedServer server({{.body = R"({"metadata":{"resourceVersion":"5","continue":"next"},"items":[)" +
                                  MirroredNodeText("a", "1") + "]}"},
                         {.status = 503},
                         {.status = 503},
                         {.body = second}});
  Follow(server, 3);
  EXPECT_THAT(events_, ElementsAre("added a@1", "added b@2", "synced"));
  EXPECT_THAT(server.request_lines()[3], HasSubstr("continue=next"));
}

}  // namespace
}  // namespace pintle::kube
