// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stream that can be ended by other code than its source.

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "net/http_answer.h"

namespace pintle::net {

class RevocableStream final : public HttpStream {
 public:
  RevocableStream() = default;

  // Sets the stream whose pieces Next() returns.  Must be called before the first call of Next().
  void Carry(std::shared_ptr<HttpStream> stream) { stream_ = std::move(stream); }

  // Ends the stream: no further piece is sent.  Any thread may call this, at any time.
  void Revoke();

  std::shared_ptr<const std::string> Next(std::function<void()> wake) override;
  bool IsOver() const override;

 private:
  std::shared_ptr<HttpStream> stream_;
  mutable std::mutex mutex_;  // Guards the members below.
  bool is_revoked_ = false;
  std::function<void()> wake_;
};

}  // namespace pintle::net
