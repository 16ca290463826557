// SPDX-License-Identifier: Apache-2.0
#include "net/curl_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>

#include "base/dlopen_note.h"

// The header wraps some functions in macros of the same name, which check their arguments.
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

namespace pintle::net {
namespace {

constexpr const char* kLibrary = "libcurl.so.4";

PINTLE_DLOPEN_NOTE(kNote, R"([{"feature":"http","description":"Requests over HTTP and HTTPS",)"
                          R"("priority":"required","soname":["libcurl.so.4"]}])");

Error CannotLoad(const char* why) {
  return Error(ErrorKind::kSystem, fmt::format("loading {}: {}; install the package libcurl (libcurl4 on Debian)",
                                               kLibrary, why == nullptr ? "the loader gives no reason" : why));
}

Result<CurlLibrary> Load() {
  // The library stays loaded until the program ends.
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return CannotLoad(::dlerror());
  CurlLibrary curl = {};
  const char* missing = nullptr;
  const auto find = [&]<typename Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    if (function == nullptr) missing = name;
  };
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_pause, "curl_easy_pause");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.free, "curl_free");
  find(curl.global_init, "curl_global_init");
  find(curl.multi_add_handle, "curl_multi_add_handle");
  find(curl.multi_cleanup, "curl_multi_cleanup");
  find(curl.multi_info_read, "curl_multi_info_read");
  find(curl.multi_init, "curl_multi_init");
  find(curl.multi_remove_handle, "curl_multi_remove_handle");
  find(curl.multi_setopt, "curl_multi_setopt");
  find(curl.multi_socket_action, "curl_multi_socket_action");
  find(curl.multi_strerror, "curl_multi_strerror");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  find(curl.url, "curl_url");
  find(curl.url_cleanup, "curl_url_cleanup");
  find(curl.url_get, "curl_url_get");
  find(curl.url_set, "curl_url_set");
  if (missing != nullptr) return CannotLoad(fmt::format("it has no function {}", missing).c_str());
  return curl;
}

}  // namespace

Result<const CurlLibrary*> LoadCurl() {
  static const Result<CurlLibrary> curl = Load();
  if (!curl) return curl.error();
  return &*curl;
}

const CurlLibrary& Curl() {
  const auto curl = LoadCurl();
  if (!curl) std::abort();
  return **curl;
}

}  // namespace pintle::net
