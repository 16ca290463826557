// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owners of the objects that C libraries hand out.
//
//     using Bus = CPtr<sd_bus, sd_bus_flush_close_unref>;
//     Bus bus;
//     int r = sd_bus_open_system(Out(bus));

#include <memory>

namespace pintle {

template <auto kFree>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    // If kFree returns something, it is a null pointer, or an error that nobody could act on.
    static_cast<void>(kFree(object));
  }
};

template <typename T, auto kFree>
using CPtr = std::unique_ptr<T, FreeWith<kFree>>;

// Passes an owner to a C function that fills in a `T**`.  The owner's previous object is freed only if the function
// has returned a new one.
template <typename T, typename Deleter>
class Out {
 public:
  explicit Out(std::unique_ptr<T, Deleter>& owner) : owner_(owner) {}
  ~Out() {
    if (raw_ != nullptr) owner_.reset(raw_);
  }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  operator T**() { return &raw_; }

 private:
  std::unique_ptr<T, Deleter>& owner_;
  T* raw_ = nullptr;
};

}  // namespace pintle
