// SPDX-License-Identifier: Apache-2.0
#include "net/revocable_stream.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace pintle::net {
namespace {

// A stream with one piece.
class OnePiece final : public HttpStream {
 public:
  std::shared_ptr<const std::string> Next(std::function<void()> wake) override {
    wake_ = std::move(wake);
    meanwhile();
    return std::exchange(piece_, nullptr);
  }
  bool IsOver() const override { return is_over; }
  void Wake() { wake_(); }

  bool is_over = false;
  std::function<void()> meanwhile = [] {};

 private:
  std::shared_ptr<const std::string> piece_ = std::make_shared<const std::string>("piece");
  std::function<void()> wake_;
};

class RevocableStreamTest : public testing::Test {
 protected:
  RevocableStreamTest() { stream_.Carry(source_); }
  std::shared_ptr<const std::string> Next() {
    return stream_.Next([this] { ++wakes_; });
  }

  std::shared_ptr<OnePiece> source_ = std::make_shared<OnePiece>();
  RevocableStream stream_;
  int wakes_ = 0;
};

TEST_F(RevocableStreamTest, HasThePiecesOfItsSource) {
  EXPECT_EQ(*Next(), "piece");
  EXPECT_EQ(Next(), nullptr);
  EXPECT_FALSE(stream_.IsOver());
  source_->Wake();
  EXPECT_EQ(wakes_, 1);
  source_->is_over = true;
  EXPECT_TRUE(stream_.IsOver());
}

TEST_F(RevocableStreamTest, EndsAtOnceWhenItIsRevoked) {
  EXPECT_EQ(*Next(), "piece");
  EXPECT_EQ(Next(), nullptr);
  stream_.Revoke();
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(Next(), nullptr);
  EXPECT_TRUE(stream_.IsOver());
}

TEST_F(RevocableStreamTest, SendsNothingIfItIsRevokedWhileItsSourceMakesAPiece) {
  source_->meanwhile = [this] { stream_.Revoke(); };
  EXPECT_EQ(Next(), nullptr);
  EXPECT_TRUE(stream_.IsOver());
}

TEST_F(RevocableStreamTest, SendsNothingIfItIsRevokedBeforeItsFirstPiece) {
  stream_.Revoke();
  EXPECT_EQ(Next(), nullptr);
  EXPECT_TRUE(stream_.IsOver());
  EXPECT_EQ(wakes_, 0);
}

}  // namespace
}  // namespace pintle::net
