// SPDX-License-Identifier: Apache-2.0
#include "agent/shown_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/expect.h"
#include "unit/event/patience.h"

namespace pintle::agent {
namespace {

using testing::ElementsAre;

class Showing : public testing::Test {
 protected:
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  SystemClock clock_;
  std::vector<std::string> shown_;
};

TEST_F(Showing, LimitsTheRateOfReportsOfAnotherThread) {
  ShownProgress progress(*loop_, clock_, [&](const std::string& doing) {
    shown_.push_back(doing);
    if (doing.ends_with("100 %")) loop_->Stop();
  });
  std::thread worker([tell = progress.Teller()] {
    tell({"fetching"});
    for (unsigned i = 0; i <= 1000; ++i) tell({"fetching", "downloading", i / 10});
  });
  const MonotonicTime began = clock_.Monotonic();
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(clock_.Monotonic() - began).count();
  worker.join();
  EXPECT_EQ(shown_.front(), "fetching");
  EXPECT_EQ(shown_.back(), "fetching: downloading, 100 %");
  EXPECT_LE(shown_.size(), static_cast<std::size_t>(seconds) + 1);
}

TEST_F(Showing, ShowsNothingAfterTheEnd) {
  std::optional<ShownProgress> progress;
  progress.emplace(*loop_, clock_, [&](const std::string& doing) { shown_.push_back(doing); });
  const change::Progress tell = progress->Teller();
  tell({"fetching"});
  tell({"fetching", "downloading", 43});
  loop_->Post([&] {
    progress->Forget();
    tell({"applying"});
    loop_->Post([&] {
      progress.reset();
      tell({"nothing"});
      loop_->Post([&] { loop_->Stop(); });
    });
  });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(shown_, ElementsAre("fetching", "applying"));
}

}  // namespace
}  // namespace pintle::agent
