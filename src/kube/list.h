// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists all objects of a kind, page by page, and delivers each as soon as it has arrived.

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "kube/attempts.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// Selects objects of a kind.
struct Selection {
  std::string namespace_name = {};  // Empty for all namespaces.
  std::string label_selector = {};  // "app=web,tier!=test"
  std::string field_selector = {};  // "metadata.name=worker-1"
  int page_size = 100;
};

struct ListReceiver {
  // Called when the list begins or starts over: earlier objects must be discarded.
  std::function<void()> begin;
  // Gets each object that can be read.  May get the same object twice, if a page had to be fetched again.
  std::function<Result<>(json::Value object)> item;
  // Gets the resourceVersion to watch from, or the reason why there is no list.
  std::function<void(std::variant<std::string, Failure>)> end;
  // Gets the readable part of an object that cannot be read as a whole.  Without this function, such an object fails
  // the whole list.
  std::function<Result<>(json::Value object, const Error& why)> part = {};
};

// Decides whether a failed request for the first page is repeated like requests for the other pages.  A caller that
// repeats a failed list itself uses kOnce, because nothing is lost before the first page has arrived.
enum class FirstPage { kAsOthers, kOnce };

// `patience` holds for each page.
Call List(std::shared_ptr<Transport> transport, const ResourceKind& kind, Selection selection, const Patience& patience,
          ListReceiver receiver, FirstPage first_page = FirstPage::kAsOthers);

}  // namespace pintle::kube
