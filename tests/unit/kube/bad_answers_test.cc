// SPDX-License-Identifier: Apache-2.0
// Tests that readers and watchers report each bad answer, and repeat their requests less and less often.

#include "unit/kube/bad_answers.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <atomic>
#include <optional>

#include "api/node.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/client.h"
#include "kube/feed.h"
#include "kube/mirror.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/kube/arrivals.h"

namespace pintle::kube {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::HasSubstr;

const std::string kNodeA = R"({"metadata":{"name":"a","resourceVersion":"1"},"spec":{}})";

class BadAnswersTest : public testing::TestWithParam<BadAnswer> {
 protected:
  BadAnswersTest() { ::setenv("no_proxy", "*", 1); }

  void RunUntil(const std::function<bool()>& is_so) {
    event::Timer check_again(
        *loop_,
        [&] {
          if (is_so()) return loop_->Stop();
          check_again.After(milliseconds(1));
        },
        milliseconds(1));
    check_again.After(milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_))) << testing::PrintToString(troubles_);
  }

  // Each request has a time limit of its own, since an answer of many megabytes takes a while.
  void RunUntilEnoughArrived() {
    for (std::size_t count = 1; count <= Enough() && !HasFailure(); ++count) {
      RunUntil([&] { return arrivals_.count() >= count; });
    }
  }

  // If the server asks for a wait of a second, the test has to wait that long, so it makes fewer requests.
  static std::size_t Enough() { return GetParam().asks_for_a_second ? 2 : kEnough; }

  void MustHaveWaited() {
    GetParam().asks_for_a_second ? arrivals_.MustDouble(milliseconds(1000)) : arrivals_.MustDouble();
    if (GetParam().words.empty()) return;
    EXPECT_THAT(troubles_, Contains(HasSubstr(GetParam().words)));
  }

  std::unique_ptr<Mirror<api::Node>> Follow(const ScriptedServer& server) {
    client_ = ValueOf(Client::Create(*loop_, server.access()));
    return std::make_unique<Mirror<api::Node>>(
        *client_, Selection{},
        Mirror<api::Node>::Listener{.trouble = [this](const Error& error) { troubles_.push_back(error.message()); }},
        FeedSettings{.page = {.attempts = 3, .backoff = kNoTime}, .backoff = kDoubling});
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::optional<Client> client_;
  std::atomic<bool> is_bad_ = true;
  Arrivals arrivals_;
  std::atomic<int> second_pages_ = 0;
  std::vector<std::string> troubles_;
};

class BadObject : public BadAnswersTest {};

TEST_P(BadObject, IsAnErrorWithTheServersMessage) {
  ScriptedServer server({GetParam().answer});
  Client client = ValueOf(Client::Create(*loop_, server.access()));
  std::string error;
  const Call call = client.Once({}).Get<api::Node>({"", "a"}, [&](const Result<api::Node>& node) {
    error = node ? "none" : node.error().message();
    loop_->Stop();
  });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(error, HasSubstr(GetParam().words));
  EXPECT_LT(error.size(), 2000U);
}

INSTANTIATE_TEST_SUITE_P(Each, BadObject, testing::ValuesIn(BadAnswers()),
                         [](const auto& bad) { return bad.param.name; });

class BadList : public BadAnswersTest {};

TEST_P(BadList, IsReportedAndRequestedLessAndLessOften) {
  ScriptedServer server({}, [this](const ReceivedRequest& request) -> Answer {
    if (request.line.find("watch=1") != std::string::npos) return {.ending = Ending::kNever};
    if (!is_bad_) return {.body = ListAnswer(kNodeA)};
    if (request.line.find("continue=") == std::string::npos) arrivals_.Note();
    return GetParam().answer;
  });
  const auto mirror = Follow(server);
  RunUntilEnoughArrived();
  MustHaveWaited();
  EXPECT_FALSE(mirror->is_synced());
  is_bad_ = false;
  RunUntil([&] { return mirror->is_synced(); });
  EXPECT_NE(mirror->Find({"", "a"}), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Each, BadList, testing::ValuesIn(BadLists()), [](const auto& bad) { return bad.param.name; });

class BadWatch : public BadAnswersTest {};

TEST_P(BadWatch, IsReportedAndBegunAgainLessAndLessOften) {
  ScriptedServer server({}, [this](const ReceivedRequest& request) -> Answer {
    if (request.line.find("watch=1") == std::string::npos) return {.body = ListAnswer(kNodeA)};
    if (!is_bad_) {
      return {.body = EventLine("ADDED", R"({"metadata":{"name":"c","resourceVersion":"20"},"spec":{}})"),
              .ending = Ending::kNever};
    }
    arrivals_.Note();
    return GetParam().answer;
  });
  const auto mirror = Follow(server);
  RunUntilEnoughArrived();
  MustHaveWaited();
  EXPECT_NE(mirror->Find({"", "a"}), nullptr);
  is_bad_ = false;
  RunUntil([&] { return mirror->Find({"", "c"}) != nullptr; });
}

INSTANTIATE_TEST_SUITE_P(Each, BadWatch, testing::ValuesIn(BadWatches()),
                         [](const auto& bad) { return bad.param.name; });

class Following : public BadAnswersTest {};

TEST_F(Following, DoesNotRequestARefusedSecondPageMoreOften) {
  ScriptedServer server({}, [this](const ReceivedRequest& request) -> Answer {
    if (request.line.find("continue=") == std::string::npos) {
      arrivals_.Note();
      return {.body = ListAnswer(kNodeA, R"(,"continue":"next")")};
    }
    second_pages_ += 1;
    return StatusAnswer(500, "InternalError");
  });
  const auto mirror = Follow(server);
  RunUntil([&] { return arrivals_.count() >= kEnough; });
  arrivals_.MustDouble();
  EXPECT_LE(second_pages_, 3 + static_cast<int>(kEnough));
  EXPECT_THAT(troubles_, Contains(HasSubstr(kRefusal)));
}

TEST_F(Following, KeepsTheLimitOfRequestsPerMinute) {
  EXPECT_LE(RequestsInAMinute(FeedSettings().backoff), kMostInAMinute);
  // A failed page of a list adds two requests.
  EXPECT_LE(RequestsInAMinute(FeedSettings().backoff) + 2, kMostInAMinute);
}

TEST_F(Following, AcceptsLargeObjectsAndPieces) {
  const std::string text(1'500'000, 'x');
  const auto node = [&](const std::string& name, const std::string& version) {
    return R"({"metadata":{"name":")" + name + R"(","resourceVersion":")" + version + R"(","annotations":{"large":")" +
           text + R"("}},"spec":{}})";
  };
  const std::string event = EventLine("ADDED", node("b", "6"));
  std::size_t at = 0;
  ScriptedServer server({{.body = ListAnswer(node("a", "1")), .piece = 4096}, {.ending = Ending::kNever, .more = [&] {
                                                                                 const std::string piece =
                                                                                     event.substr(at, 100'000);
                                                                                 at += piece.size();
                                                                                 return piece;
                                                                               }}});
  const auto mirror = Follow(server);
  RunUntil([&] { return mirror->Find({"", "b"}) != nullptr; });
  EXPECT_EQ(mirror->Find({"", "a"})->metadata.annotations.at("large").size(), text.size());
  EXPECT_EQ(mirror->Find({"", "b"})->metadata.annotations.at("large").size(), text.size());
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Following, SetsAsideOnlyTheObjectWithATooLargeNumber) {
  const std::string bad =
      R"({"metadata":{"name":"a","resourceVersion":"1","generation":9223372036854775808},"spec":{}})";
  ScriptedServer server({{.body = ListAnswer(bad + R"(,{"metadata":{"name":"b","resourceVersion":"2"},"spec":{}})")}});
  const auto mirror = Follow(server);
  RunUntil([&] { return mirror->is_synced(); });
  EXPECT_EQ(mirror->Find({"", "a"}), nullptr);
  EXPECT_NE(mirror->Find({"", "b"}), nullptr);
  EXPECT_THAT(troubles_, Contains(HasSubstr("generation")));
}

}  // namespace
}  // namespace pintle::kube
