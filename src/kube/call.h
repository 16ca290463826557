// SPDX-License-Identifier: Apache-2.0
#pragma once

// A handle for a request to the API server.

#include <memory>
#include <utility>

namespace pintle::kube {

// The work behind a Call.  Its callbacks refer to it by weak pointers only, so that it ends with its Call.
class Work {
 public:
  virtual ~Work() = default;
  // Returns whether the Call was destroyed.  Check this after each callback, because a callback may destroy the Call.
  bool is_dropped() const { return is_dropped_; }

 private:
  friend class Call;
  bool is_dropped_ = false;
};

// Destroying a Call cancels its work, even from within a callback of that work; nothing is called afterwards.
class [[nodiscard]] Call {
 public:
  Call() = default;
  explicit Call(std::shared_ptr<Work> work) : work_(std::move(work)) {}
  ~Call() { Drop(); }
  Call(Call&& other) noexcept : work_(std::move(other.work_)) {}
  Call& operator=(Call&& other) noexcept {
    const Call before(std::exchange(work_, std::move(other.work_)));
    return *this;
  }

 private:
  void Drop() {
    if (work_) work_->is_dropped_ = true;
    work_.reset();
  }

  std::shared_ptr<Work> work_;
};

}  // namespace pintle::kube
