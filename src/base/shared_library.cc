// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>
#include <string_view>

#include "base/exit_status.h"
#include "base/output.h"

namespace pintle {
namespace {

Error CannotLoad(const char* soname, const char* package, std::string_view why) {
  return Error(ErrorKind::kSystem, fmt::format("loading {}: {}; install the package {}", soname, why, package));
}

std::string_view LoaderMessage() {
  const char* const message = ::dlerror();
  return message == nullptr ? "the loader gives no reason" : message;
}

}  // namespace

Result<SharedLibrary> SharedLibrary::Load(const char* soname, const char* package) {
  void* const handle = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return CannotLoad(soname, package, LoaderMessage());
  return SharedLibrary(handle, soname, package);
}

Result<> SharedLibrary::FindAddress(const char* name, void*& address) const {
  address = ::dlsym(handle_, name);
  if (address == nullptr) return CannotLoad(soname_, package_, fmt::format("it has no function {}", name));
  return {};
}

void EndWithoutLibrary(const Error& why) {
  PrintToStderr(why.message() + "\n");
  std::_Exit(static_cast<int>(ExitStatus::kFailure));
}

}  // namespace pintle
