// SPDX-License-Identifier: Apache-2.0
#include "kube/watch.h"

#include <fmt/core.h>

#include <utility>

#include "event/loop.h"

namespace pintle::kube {
namespace {

// The server may end the watch this much later than it was asked to.
constexpr auto kGrace = std::chrono::seconds(30);

class Watcher final : public Work, public std::enable_shared_from_this<Watcher> {
 public:
  Watcher(std::shared_ptr<Transport> transport, WatchReceiver receiver)
      : transport_(std::move(transport)), receiver_(std::move(receiver)) {}

  void Begin(Result<ApiRequest> request) {
    const auto weak = weak_from_this();
    if (!request) {
      transport_->loop().Post([weak, error = std::move(request).error()] {
        if (const auto alive = weak.lock()) alive->End(Failure{.error = error});
      });
      return;
    }
    call_ = transport_->Start(*std::move(request), {.body = [weak](std::string_view piece) -> Result<> {
                                                      const auto alive = weak.lock();
                                                      return alive ? alive->Take(piece) : Result<>();
                                                    },
                                                    .end =
                                                        [weak](std::optional<Failure> failure) {
                                                          if (const auto alive = weak.lock()) alive->Ended(failure);
                                                        }});
  }

 private:
  Result<> Take(std::string_view piece) {
    return lines_.Feed(piece, [this](std::string_view line) -> Result<> {
      // The receiver may have dropped the watch during an earlier line.
      if (is_dropped()) return {};
      auto decoded = TRY(DecodeWatchLine(line));
      if (auto* const failure = std::get_if<Failure>(&decoded)) {
        Error error = failure->error;
        reported_ = std::move(*failure);
        return error;
      }
      receiver_.event(std::move(std::get<WatchEvent>(decoded)));
      return {};
    });
  }

  void Ended(std::optional<Failure> failure) {
    if (is_dropped()) return;
    // The failure in the ERROR event has the details; the failure that ended the stream has the context in its message.
    if (reported_ && failure) {
      reported_->error = failure->error;
      failure = std::move(reported_);
    }
    End(std::move(failure));
  }

  void End(std::optional<Failure> failure) {
    const WatchReceiver receiver = std::exchange(receiver_, {});
    receiver.end(std::move(failure));
  }

  std::shared_ptr<Transport> transport_;
  WatchReceiver receiver_;
  LineSplitter lines_;
  std::optional<Failure> reported_;  // The failure in an ERROR event.
  Call call_;
};

}  // namespace

Call Watch(std::shared_ptr<Transport> transport, const ResourceKind& kind, const Selection& selection,
           const std::string& resource_version, const WatchTimes& times, const Random& random, WatchReceiver receiver) {
  const auto watcher = std::make_shared<Watcher>(std::move(transport), std::move(receiver));
  const auto request = [&]() -> Result<ApiRequest> {
    const auto random_part =
        std::chrono::seconds(static_cast<int>(static_cast<double>(times.duration.count()) * random()));
    const std::string path = TRY(CollectionPath(kind, selection.namespace_name));
    ApiRequest watch_request = {
        .path = path + Query({{"watch", "1"},
                              {"allowWatchBookmarks", "true"},
                              {"labelSelector", selection.label_selector},
                              {"fieldSelector", selection.field_selector},
                              {"resourceVersion", resource_version},
                              {"timeoutSeconds", std::to_string((times.duration + random_part).count())}}),
        .doing = fmt::format("watching {}", kind.plural)};
    watch_request.timeouts.stall = times.silence;
    watch_request.timeouts.whole = times.duration + random_part + kGrace;
    return watch_request;
  };
  watcher->Begin(request());
  return Call(watcher);
}

}  // namespace pintle::kube
