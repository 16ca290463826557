// SPDX-License-Identifier: Apache-2.0
#pragma once

// A shared library that is loaded while the program runs.

#include "base/result.h"

namespace pintle {

class SharedLibrary {
 public:
  // The library stays loaded until the program ends.  The error asks the reader to install `package`.
  static Result<SharedLibrary> Load(const char* soname, const char* package);

  // Sets `function` to the function of this name, or returns an error if the library has none.
  template <typename Function>
  Result<> Find(Function*& function, const char* name) const {
    void* address = nullptr;
    Result<> found = FindAddress(name, address);
    function = reinterpret_cast<Function*>(address);
    return found;
  }

 private:
  SharedLibrary(void* handle, const char* soname, const char* package)
      : handle_(handle), soname_(soname), package_(package) {}

  Result<> FindAddress(const char* name, void*& address) const;

  void* handle_;
  const char* soname_;
  const char* package_;
};

// Prints why a library cannot be used and ends the program.
[[noreturn]] void EndWithoutLibrary(const Error& why);

}  // namespace pintle
