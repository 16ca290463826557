// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many cases of one kind agree with what the Machine Config Operator answers.

#include <string>
#include <string_view>
#include <utility>

namespace pintle::vectors {

class Tally {
 public:
  // The kind is the name of the folder of its cases.
  explicit Tally(std::string kind) : kind_(std::move(kind)) {}

  // Counts a case, which agrees if `difference` is empty, and prints how it does not.
  void Add(std::string_view name, std::string_view difference);

  // A case of which we deliberately make something else than the operator, and what that has instead of what it should
  // have; nothing if it is as it should be.
  void AddDeliberate(std::string_view name, std::string_view reason, std::string_view difference);

  // Prints "KIND: N/M agree".
  void PrintSum() const;

  // Whether something differs that is not meant to.
  bool has_missed() const { return misses_ > 0; }

 private:
  std::string kind_;
  int agreed_ = 0;
  int tried_ = 0;
  int misses_ = 0;
};

}  // namespace pintle::vectors
