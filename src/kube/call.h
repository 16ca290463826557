// SPDX-License-Identifier: Apache-2.0
#pragma once

// Something asked of the API server, as long as its answer is wanted.

#include <memory>
#include <utility>

namespace pintle::kube {

// What is under way: it does its work through weak pointers to itself, so that it ends when nobody wants it.
class Work {
 public:
  virtual ~Work() = default;
  // Whoever calls out looks at this afterwards: the one called may have dropped the call.
  bool is_dropped() const { return is_dropped_; }

 private:
  friend class Call;
  bool is_dropped_ = false;
};

// Destroying it cancels what is under way, also from within what that calls; nothing is called after that.
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
