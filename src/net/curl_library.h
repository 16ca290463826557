// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads libcurl when it is first needed.
//
// libcurl and the libraries that it needs take longer to load than most commands take to run, and few commands use
// HTTP.

#include <curl/curl.h>

#include "base/result.h"

namespace pintle::net {

struct CurlLibrary {
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_pause) easy_pause;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_free) free;
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_socket_action) multi_socket_action;
  decltype(&::curl_multi_strerror) multi_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_set) url_set;
};

// Returns an error that names the missing package if libcurl cannot be loaded.
Result<const CurlLibrary*> LoadCurl();

// Returns the library for code that already holds one of its objects.  Ends the program if libcurl cannot be loaded.
const CurlLibrary& Curl();

}  // namespace pintle::net
