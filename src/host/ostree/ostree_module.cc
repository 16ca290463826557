// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/ostree_module.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <utility>

#include "base/dlopen_note.h"

namespace pintle::host {
namespace {

// The program's run path names the module's directory.  The file name contains our version, because the program and the
// module share types.
constexpr const char* kModule = "pintle-ostree-" PINTLE_VERSION ".so";

PINTLE_DLOPEN_NOTE(kNote, R"([{"feature":"ostree","description":"OS images by libostree and rpm-ostree",)"
                          R"("priority":"recommended","soname":["pintle-ostree-)" PINTLE_VERSION R"(.so"]}])");

Result<const OstreeModule*> LoadModule() {
  // The module stays loaded until the program ends.
  void* const module = ::dlopen(kModule, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const auto* const offered =
      module == nullptr ? nullptr : static_cast<const OstreeModule*>(::dlsym(module, kOstreeModuleSymbol));
  if (offered != nullptr) return offered;
  const char* const why = ::dlerror();
  return Error(ErrorKind::kSystem, fmt::format("loading the module for OSTree: {}; install the package pintle-image",
                                               why == nullptr ? "the loader gives no reason" : why));
}

}  // namespace

Result<const OstreeModule*> LoadOstreeModule() {
  static const Result<const OstreeModule*> module = LoadModule();
  return module;
}

Result<std::unique_ptr<Deployments>> OpenRunningDisk(RegistryAccess registries) {
  return TRY(LoadOstreeModule())->open_disk("/", std::move(registries), kSysrootPatience);
}

}  // namespace pintle::host
