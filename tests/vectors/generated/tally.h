// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts how many cases of one kind agree with the answers of the Machine Config Operator.

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace pintle::vectors {

class Tally {
 public:
  // The kind is the name of the folder of its cases.
  explicit Tally(std::string kind) : kind_(std::move(kind)) {}

  // Counts a case.  It agrees if `difference` is empty; otherwise the difference is printed.
  void Add(std::string_view name, std::string_view difference);

  // Counts a case in which we deliberately differ from the operator.  `difference` describes how our result differs
  // from the one that we want; it is empty if they agree.
  void AddDeliberate(std::string_view name, std::string_view reason, std::string_view difference);

  // Calls `run`, which runs the case of this name.  If `run` throws an exception because the case cannot be read, the
  // case counts as a miss, and the other cases still run.
  template <typename Run>
  void Try(std::string_view name, Run&& run) {
    try {
      run();
    } catch (const std::exception& e) {
      Add(name, e.what());
    }
  }

  // Prints that a case has no answer of the operator.  It is not counted, because nothing was compared.
  void Skip(std::string_view name) const;

  // Prints "KIND: N/M agree".
  void PrintSum() const;

  // Returns whether any case was counted.
  bool has_tried() const { return tried_ > 0; }

  // Returns whether any case has a result that we do not want.
  bool has_missed() const { return misses_ > 0; }

 private:
  std::string kind_;
  int agreed_ = 0;
  int tried_ = 0;
  int misses_ = 0;
};

}  // namespace pintle::vectors
