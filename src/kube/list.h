// SPDX-License-Identifier: Apache-2.0
#pragma once

// All objects of a kind, page by page, each handed on as soon as it has come.

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "kube/attempts.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// Which objects of a kind.
struct Selection {
  std::string namespace_name = {};  // Empty: all namespaces.
  std::string label_selector = {};  // "app=web,tier!=test"
  std::string field_selector = {};  // "metadata.name=worker-1"
  int page_size = 100;
};

struct ListReceiver {
  // The list begins, perhaps anew: what came before does not count.
  std::function<void()> begin;
  // May be called twice for the same object, when a page was fetched again.
  std::function<Result<>(json::Value object)> item;
  // With the resourceVersion to watch from, or why there is no list.
  std::function<void(std::variant<std::string, Failure>)> end;
};

// Whether the first page is asked for again, as the others are.  Until it is here nothing is lost, and who begins lists
// anew by himself need not be patient.
enum class FirstPage { kAsOthers, kOnce };

Call List(std::shared_ptr<Transport> transport, const ResourceKind& kind, Selection selection, const Patience& patience,
          ListReceiver receiver, FirstPage first_page = FirstPage::kAsOthers);

}  // namespace pintle::kube
