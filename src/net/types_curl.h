// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owning types for curl's objects, and functions that set options.

#include <curl/curl.h>

#include <cstdlib>
#include <string>

#include "base/c_ptr.h"

namespace pintle::net {

using Multi = CPtr<CURLM, ::curl_multi_cleanup>;
using Easy = CPtr<CURL, ::curl_easy_cleanup>;
using Lines = CPtr<curl_slist, ::curl_slist_free_all>;

// Setting an option fails only if memory runs out or this version of curl does not have the option.
template <typename Value>
void Set(CURL* easy, CURLoption option, Value value) {
  if (::curl_easy_setopt(easy, option, value) != CURLE_OK) std::abort();
}

template <typename Value>
void Set(CURLM* multi, CURLMoption option, Value value) {
  if (::curl_multi_setopt(multi, option, value) != CURLM_OK) std::abort();
}

template <typename Value>
Value Get(CURL* easy, CURLINFO info) {
  Value value = {};
  ::curl_easy_getinfo(easy, info, &value);
  return value;
}

// curl keeps a copy.
inline void SetBlob(CURL* easy, CURLoption option, std::string& bytes) {
  curl_blob blob = {.data = bytes.data(), .len = bytes.size(), .flags = CURL_BLOB_COPY};
  Set(easy, option, &blob);
}

}  // namespace pintle::net
