// SPDX-License-Identifier: Apache-2.0
#include "drain/evictions.h"

#include <gmock/gmock.h>

#include <atomic>

#include "event/loop.h"
#include "support/expect.h"
#include "unit/event/patience.h"
#include "unit/kube/arrivals.h"
#include "unit/kube/bad_answers.h"

namespace pintle::drain {
namespace {

using kube::Answer;
using kube::BadAnswer;
using kube::ReceivedRequest;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr auto kPatience = std::chrono::minutes(2);

std::string Pod(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":"uid-)" + name +
         R"(","resourceVersion":"1"},"spec":{},"status":{}})";
}

// There are two pods, whose eviction is requested.
class EvictionsTest : public testing::TestWithParam<BadAnswer> {
 protected:
  EvictionsTest() { ::setenv("no_proxy", "*", 1); }

  Answer AnswerTo(const ReceivedRequest& request) {
    if (request.line.find("watch=1") != std::string::npos) return {.ending = kube::Ending::kNever};
    if (request.line.starts_with("GET")) return {.body = kube::ListAnswer(Pod("a") + "," + Pod("b"))};
    if (request.line.find("/pods/b/") != std::string::npos) {
      is_b_asked_ = true;
      return {.status = 201, .body = "{}"};
    }
    arrivals_.Note();
    return refusal_;
  }

  // Runs until the eviction of pod b was requested and that of pod a was refused `enough` times, or until the attempt
  // has failed.
  std::string WhyItFails(const Settings& settings, std::size_t enough) {
    kube::ScriptedServer server({}, [this](const ReceivedRequest& request) { return AnswerTo(request); });
    std::string why;
    const Evictions evictions(*loop_, ValueOf(kube::Client::Create(*loop_, server.access())), turns_, "node", settings,
                              {.evicted = [](const auto&) {},
                               .gone = [] {},
                               .failed =
                                   [&](const std::string& text) {
                                     why = text;
                                     loop_->Stop();
                                   }});
    event::Timer check_again(
        *loop_,
        [&] {
          if (arrivals_.count() >= enough && is_b_asked_) return loop_->Stop();
          check_again.After(milliseconds(1));
        },
        milliseconds(1));
    check_again.After(milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    return why;
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  Turns turns_{*loop_, 4};
  Answer refusal_;
  kube::Arrivals arrivals_;
  std::atomic<bool> is_b_asked_ = false;
};

TEST_P(EvictionsTest, AreRetriedSeldomIfRefusedAndDelayNoOtherEvictions) {
  refusal_ = GetParam().answer;
  const std::size_t enough = GetParam().asks_for_a_second ? 2 : 5;
  EXPECT_EQ(WhyItFails({.eviction_retry = milliseconds(5)}, enough), "");
  GetParam().asks_for_a_second ? arrivals_.MustDouble(milliseconds(1000)) : arrivals_.MustDouble(milliseconds(5));
}

TEST_F(EvictionsTest, PassOnTheServersError) {
  refusal_ = kube::StatusAnswer(403, "Forbidden");
  std::string why;
  // On a busy machine, the server's answer may come only after a short attempt has ended.
  for (auto attempt = std::chrono::seconds(1); why.find(kube::kRefusal) == std::string::npos && attempt < kPatience;
       attempt *= 2) {
    why = WhyItFails({.attempt = attempt}, 100);
  }
  EXPECT_THAT(why, HasSubstr("error when evicting pods/\"a\" -n \"ns\": global timeout reached"));
  EXPECT_THAT(why, HasSubstr(kube::kRefusal));
}

TEST_F(EvictionsTest, KeepTheLimitOfRequestsPerMinute) {
  const auto retry = Settings().eviction_retry;
  EXPECT_LE(kube::RequestsInAMinute({.first = retry, .longest = 8 * retry}), kube::kMostInAMinute);
}

std::string PodWith(const std::string& spec, const std::string& version) {
  return R"({"metadata":{"name":"u","namespace":"ns","uid":"uid-u","resourceVersion":")" + version + R"("},"spec":)" +
         spec + R"(,"status":{}})";
}
const std::string kUnreadableSpec = "5";

// There is one pod, which cannot be read at first.
class UnreadablePodTest : public testing::Test {
 protected:
  UnreadablePodTest() { ::setenv("no_proxy", "*", 1); }

  // Runs one attempt, and returns "gone" or the error.  The watch of the pods sends what `more` returns.
  std::string Outcome(const std::function<std::string()>& more, const Settings& settings) {
    kube::ScriptedServer server({}, [&](const ReceivedRequest& request) -> Answer {
      if (request.line.find("watch=1") != std::string::npos) return {.ending = kube::Ending::kNever, .more = more};
      if (request.line.starts_with("GET")) return {.body = kube::ListAnswer(PodWith(kUnreadableSpec, "1"))};
      is_evicted_ = true;
      return {.status = 201, .body = "{}"};
    });
    std::string outcome;
    const auto end = [&](const std::string& text) {
      outcome = text;
      loop_->Stop();
    };
    const Evictions evictions(*loop_, ValueOf(kube::Client::Create(*loop_, server.access())), turns_, "node", settings,
                              {.evicted = [](const auto&) {}, .gone = [&] { end("gone"); }, .failed = end});
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    return outcome;
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  Turns turns_{*loop_, 4};
  std::atomic<bool> is_evicted_ = false;
};

TEST_F(UnreadablePodTest, IsNotEvictedAndMakesTheAttemptFail) {
  const std::string why = Outcome([] { return ""; }, {.attempt = milliseconds(300)});
  EXPECT_THAT(why, HasSubstr("error when evicting pods/\"u\" -n \"ns\": global timeout reached"));
  EXPECT_THAT(why, HasSubstr("the pod cannot be read: "));
  EXPECT_FALSE(is_evicted_);
}

TEST_F(UnreadablePodTest, EndsTheAttemptWhenThePodIsGone) {
  const auto deletion = [is_sent = false]() mutable {
    if (std::exchange(is_sent, true)) return std::string();
    return kube::EventLine("DELETED", PodWith(kUnreadableSpec, "9"));
  };
  EXPECT_EQ(Outcome(deletion, {}), "gone");
  EXPECT_FALSE(is_evicted_);
}

TEST_F(UnreadablePodTest, IsEvictedOnceItCanBeRead) {
  const auto correction_and_deletion = [this, sent = 0]() mutable {
    if (sent == 0 || (sent == 1 && is_evicted_)) {
      return ++sent == 1 ? kube::EventLine("MODIFIED", PodWith("{}", "9"))
                         : kube::EventLine("DELETED", PodWith("{}", "10"));
    }
    return std::string();
  };
  EXPECT_EQ(Outcome(correction_and_deletion, {}), "gone");
  EXPECT_TRUE(is_evicted_);
}

// Returns the bad answers to evictions.  The contents of a successful answer do not matter.
std::vector<BadAnswer> Refusals() {
  std::vector<BadAnswer> refusals = kube::BadAnswers();
  std::erase_if(refusals, [](const BadAnswer& bad) { return bad.answer.status / 100 == 2 && !bad.answer.raw; });
  // The answer 400 is left out: it means that the server does not know this version of evictions, and the other version
  // is tried at once.
  std::erase_if(refusals, [](const BadAnswer& bad) { return bad.answer.status == 400; });
  return refusals;
}

INSTANTIATE_TEST_SUITE_P(Each, EvictionsTest, testing::ValuesIn(Refusals()),
                         [](const auto& bad) { return bad.param.name; });

}  // namespace
}  // namespace pintle::drain
