// SPDX-License-Identifier: Apache-2.0
#include "net/revocable_stream.h"

#include <utility>

namespace pintle::net {

void RevocableStream::Revoke() {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    is_revoked_ = true;
    wake = std::exchange(wake_, nullptr);
  }
  if (wake) wake();
}

std::shared_ptr<const std::string> RevocableStream::Next(std::function<void()> wake) {
  {
    const std::lock_guard lock(mutex_);
    if (is_revoked_) return nullptr;
    wake_ = wake;
  }
  auto piece = stream_->Next(std::move(wake));
  // The stream may have been revoked meanwhile, by another thread.
  const std::lock_guard lock(mutex_);
  return is_revoked_ ? nullptr : piece;
}

bool RevocableStream::IsOver() const {
  {
    const std::lock_guard lock(mutex_);
    if (is_revoked_) return true;
  }
  return stream_->IsOver();
}

}  // namespace pintle::net
