// SPDX-License-Identifier: Apache-2.0
#include "kube/list.h"

#include <fmt/core.h>

#include <utility>

#include "api/lenient.h"
#include "event/loop.h"
#include "event/watches.h"
#include "json/fields.h"
#include "kube/list_splitter.h"
#include "kube/watch_decoder.h"

namespace pintle::kube {
namespace {

struct ListMeta {
  std::string resource_version;
  std::string continue_token;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"resourceVersion", &ListMeta::resource_version},
                                                  json::Field{"continue", &ListMeta::continue_token}};
};

// A list without its elements (ListSplitter::frame()).
struct Frame {
  ListMeta metadata;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"metadata", &Frame::metadata}};
};

Result<ListMeta> ReadListMeta(const std::string& text) {
  json::Report report;
  Frame frame = json::Decode<Frame>(TRY(json::Parse(text)), report);
  TRY(report.ToResult());
  if (!frame.metadata.resource_version.empty()) return frame.metadata;
  return Error(ErrorKind::kInvalid, "the list has no resourceVersion");
}

class Lister final : public Work, public std::enable_shared_from_this<Lister> {
 public:
  Lister(std::shared_ptr<Transport> transport, const ResourceKind& kind, Selection selection, const Patience& patience,
         ListReceiver receiver, FirstPage first_page)
      : transport_(std::move(transport)),
        kind_(kind),
        selection_(std::move(selection)),
        patience_(patience),
        attempts_left_(first_page == FirstPage::kOnce ? 1 : patience.attempts),
        backoff_(patience.backoff, patience.random),
        receiver_(std::move(receiver)),
        again_(
            transport_->loop(), [this] { FetchPage(); }, kRetrySlack) {}

  void Begin() {
    auto path = CollectionPath(kind_, selection_.namespace_name);
    if (path) {
      path_ = *std::move(path);
      return FetchPage();
    }
    transport_->loop().Post([weak = weak_from_this(), error = std::move(path).error()] {
      if (const auto alive = weak.lock()) alive->End(Failure{.error = error});
    });
  }

 private:
  // Returns whether the current page is the first one; objects that were delivered before it are discarded.
  bool IsAtBeginning() const { return continue_.empty(); }

  void FetchPage() {
    --attempts_left_;
    begun_ = false;
    splitter_ = ListSplitter();
    const auto weak = weak_from_this();
    ApiRequest request = {.path = path_ + Query({{"labelSelector", selection_.label_selector},
                                                 {"fieldSelector", selection_.field_selector},
                                                 {"limit", is_paged_ ? std::to_string(selection_.page_size) : ""},
                                                 {"continue", continue_}}),
                          .doing = fmt::format("listing {}", kind_.plural)};
    request.timeouts.whole.reset();  // Any duration is fine while data arrives.
    call_ = transport_->Start(std::move(request), {.body = [weak](std::string_view piece) -> Result<> {
                                                     const auto alive = weak.lock();
                                                     return alive ? alive->Take(piece) : Result<>();
                                                   },
                                                   .end =
                                                       [weak](std::optional<Failure> failure) {
                                                         if (const auto alive = weak.lock()) alive->Ended(failure);
                                                       }});
  }

  Result<> Take(std::string_view piece) {
    if (IsAtBeginning() && !std::exchange(begun_, true)) receiver_.begin();
    if (is_dropped()) return {};
    return splitter_.Feed(piece, [this](std::string_view element) -> Result<> {
      if (is_dropped()) return {};
      ObjectText read = TRY(ReadObjectText(element));
      if (!read.why_incomplete) return receiver_.item(std::move(read.object));
      return receiver_.part ? receiver_.part(std::move(read.object), *read.why_incomplete)
                            : *std::move(read.why_incomplete);
    });
  }

  void Ended(std::optional<Failure> failure) {
    if (is_dropped()) return;
    if (failure) return Failed(*std::move(failure));
    auto metadata = ReadListMeta(splitter_.frame());
    if (!metadata) {
      return End(While(Failure{.error = std::move(metadata).error()}, fmt::format("listing {}", kind_.plural)));
    }
    if (metadata->continue_token.empty()) return End(std::move(metadata->resource_version));
    if (metadata->continue_token == continue_) {
      const Error circle(ErrorKind::kInvalid, "a page of the list has the continue token with which it was requested");
      return End(While(Failure{.error = circle}, fmt::format("listing {}", kind_.plural)));
    }
    continue_ = std::move(metadata->continue_token);
    // Each page has its own attempts.
    attempts_left_ = patience_.attempts;
    backoff_.Reset();
    FetchPage();
  }

  void Failed(Failure failure) {
    // Reading the pages took longer than the server keeps the version of the first page.  So the list starts over
    // without pages, for which there is no such limit.
    if (failure.IsExpired() && !IsAtBeginning()) {
      continue_.clear();
      is_paged_ = false;
      attempts_left_ = patience_.attempts;
      return FetchPage();
    }
    if (attempts_left_ > 0 && IsWorthAnotherAttempt(failure, Repeatable::kYes)) {
      return again_.After(DelayBefore(failure, backoff_));
    }
    End(std::move(failure));
  }

  void End(std::variant<std::string, Failure> outcome) {
    const ListReceiver receiver = std::exchange(receiver_, {});
    receiver.end(std::move(outcome));
  }

  std::shared_ptr<Transport> transport_;
  ResourceKind kind_;
  Selection selection_;
  Patience patience_;
  int attempts_left_;
  Backoff backoff_;
  ListReceiver receiver_;
  std::string path_;
  std::string continue_;
  bool is_paged_ = true;
  bool begun_ = false;  // Whether data of the current page has arrived.
  ListSplitter splitter_;
  event::Timer again_;
  Call call_;
};

}  // namespace

Call List(std::shared_ptr<Transport> transport, const ResourceKind& kind, Selection selection, const Patience& patience,
          ListReceiver receiver, FirstPage first_page) {
  const auto lister = std::make_shared<Lister>(std::move(transport), kind, std::move(selection), patience,
                                               std::move(receiver), first_page);
  lister->Begin();
  return Call(lister);
}

}  // namespace pintle::kube
