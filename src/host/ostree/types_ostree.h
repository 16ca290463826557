// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owning types for the objects of libostree and GLib, and the translation of their errors to ours.

#include <gio/gio.h>
#include <ostree.h>

#include <functional>
#include <stop_token>

#include "base/c_ptr.h"
#include "base/result.h"

namespace pintle::host {

template <typename T>
using Object = CPtr<T, g_object_unref>;
using Variant = CPtr<GVariant, g_variant_unref>;
using Text = CPtr<char, g_free>;
using KeyFile = CPtr<GKeyFile, g_key_file_unref>;
using HashTable = CPtr<GHashTable, g_hash_table_unref>;
using Objects = CPtr<GPtrArray, g_ptr_array_unref>;
using Modifier = CPtr<OstreeRepoCommitModifier, ostree_repo_commit_modifier_unref>;
using Failure = CPtr<GError, g_error_free>;

// Converts an error of libostree or GLib.  `failure` is null if the library has given no reason.
inline Error ToError(const Failure& failure) {
  if (failure == nullptr) return Error(ErrorKind::kSystem, "libostree gives no reason");
  const auto has_code = [&](int code) { return g_error_matches(failure.get(), G_IO_ERROR, code) != FALSE; };
  const ErrorKind kind = has_code(G_IO_ERROR_CANCELLED)   ? ErrorKind::kCancelled
                         : has_code(G_IO_ERROR_NOT_FOUND) ? ErrorKind::kNotFound
                                                          : ErrorKind::kSystem;
  return Error(kind, failure->message);
}

// Cancels a GCancellable when a stop is requested.
class Cancellable {
 public:
  explicit Cancellable(const std::stop_token& stop)
      : cancellable_(g_cancellable_new()), on_stop_(stop, [this] { g_cancellable_cancel(cancellable_.get()); }) {}

  GCancellable* get() const { return cancellable_.get(); }

 private:
  Object<GCancellable> cancellable_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace pintle::host
