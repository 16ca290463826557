// SPDX-License-Identifier: Apache-2.0
#include "agent/progress_relay.h"

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

class RelayTest : public testing::Test {
 protected:
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  SystemClock clock_;
  std::vector<std::string> reported_;
};

TEST_F(RelayTest, LimitsTheRateOfReportsOfAnotherThread) {
  ProgressRelay progress(*loop_, clock_, [&](const std::string& doing) {
    reported_.push_back(doing);
    if (doing.ends_with("100 %")) loop_->Stop();
  });
  std::thread worker([send = progress.Sender()] {
    send({"fetching"});
    for (unsigned i = 0; i <= 1000; ++i) send({"fetching", "downloading", i / 10});
  });
  const MonotonicTime began = clock_.Monotonic();
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  const auto elapsed = std::chrono::ceil<std::chrono::seconds>(clock_.Monotonic() - began).count();
  worker.join();
  EXPECT_EQ(reported_.front(), "fetching");
  EXPECT_EQ(reported_.back(), "fetching: downloading, 100 %");
  EXPECT_LE(reported_.size(), static_cast<std::size_t>(elapsed) + 1);
}

TEST_F(RelayTest, ReportsNothingAfterTheEnd) {
  std::optional<ProgressRelay> progress;
  progress.emplace(*loop_, clock_, [&](const std::string& doing) { reported_.push_back(doing); });
  const change::Progress send = progress->Sender();
  send({"fetching"});
  send({"fetching", "downloading", 43});
  loop_->Post([&] {
    progress->Forget();
    send({"applying"});
    loop_->Post([&] {
      progress.reset();
      send({"nothing"});
      loop_->Post([&] { loop_->Stop(); });
    });
  });
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(reported_, ElementsAre("fetching", "applying"));
}

}  // namespace
}  // namespace pintle::agent
