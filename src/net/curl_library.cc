// SPDX-License-Identifier: Apache-2.0
#include "net/curl_library.h"

#include "base/dlopen_note.h"
#include "base/shared_library.h"

// The header wraps some functions in macros of the same name, which check their arguments.
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

namespace pintle::net {
namespace {

PINTLE_DLOPEN_NOTE(kCurlNote, R"([{"feature":"http","description":"Requests over HTTP and HTTPS",)"
                              R"("priority":"required","soname":["libcurl.so.4"]}])");

Result<CurlLibrary> LoadCurlLibrary() {
  const SharedLibrary library = TRY(SharedLibrary::Load("libcurl.so.4", "libcurl (libcurl4 on Debian)"));
  CurlLibrary curl = {};
  TRY(library.Find(curl.easy_cleanup, "curl_easy_cleanup"));
  TRY(library.Find(curl.easy_getinfo, "curl_easy_getinfo"));
  TRY(library.Find(curl.easy_init, "curl_easy_init"));
  TRY(library.Find(curl.easy_pause, "curl_easy_pause"));
  TRY(library.Find(curl.easy_setopt, "curl_easy_setopt"));
  TRY(library.Find(curl.easy_strerror, "curl_easy_strerror"));
  TRY(library.Find(curl.free, "curl_free"));
  TRY(library.Find(curl.global_init, "curl_global_init"));
  TRY(library.Find(curl.multi_add_handle, "curl_multi_add_handle"));
  TRY(library.Find(curl.multi_cleanup, "curl_multi_cleanup"));
  TRY(library.Find(curl.multi_info_read, "curl_multi_info_read"));
  TRY(library.Find(curl.multi_init, "curl_multi_init"));
  TRY(library.Find(curl.multi_remove_handle, "curl_multi_remove_handle"));
  TRY(library.Find(curl.multi_setopt, "curl_multi_setopt"));
  TRY(library.Find(curl.multi_socket_action, "curl_multi_socket_action"));
  TRY(library.Find(curl.multi_strerror, "curl_multi_strerror"));
  TRY(library.Find(curl.slist_append, "curl_slist_append"));
  TRY(library.Find(curl.slist_free_all, "curl_slist_free_all"));
  TRY(library.Find(curl.url, "curl_url"));
  TRY(library.Find(curl.url_cleanup, "curl_url_cleanup"));
  TRY(library.Find(curl.url_get, "curl_url_get"));
  TRY(library.Find(curl.url_set, "curl_url_set"));
  return curl;
}

}  // namespace

Result<const CurlLibrary*> LoadCurl() {
  static const Result<CurlLibrary> curl = LoadCurlLibrary();
  if (!curl) return curl.error();
  return &*curl;
}

const CurlLibrary& Curl() {
  const auto curl = LoadCurl();
  if (!curl) EndWithoutLibrary(curl.error());
  return **curl;
}

}  // namespace pintle::net
