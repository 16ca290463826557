// SPDX-License-Identifier: Apache-2.0
#pragma once

// A value that is made when someone first asks for it, and then kept: for what is dear to make, and may never be asked
// for.  Any thread may ask; those who ask while it is being made wait for it.

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace pintle::event {

template <typename T>
class Lazy {
 public:
  explicit Lazy(std::function<T()> make) : make_(std::move(make)) {}
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;

  const T& Get() const {
    std::call_once(once_, [this] {
      value_.emplace(make_());
      make_ = nullptr;  // With whatever it was to be made from.
    });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::function<T()> make_;
  mutable std::optional<T> value_;
};

}  // namespace pintle::event
