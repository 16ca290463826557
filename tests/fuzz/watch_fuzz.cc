// SPDX-License-Identifier: Apache-2.0

// Decodes the input as three answers of an API server: a watch, a list, and the answer to a failed request.
//
// The lines of a watch and the elements of a list must not depend on the pieces in which the answer arrives.  The
// message about a failed request must be one line.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json/parse.h"
#include "kube/failure.h"
#include "kube/list_splitter.h"
#include "kube/watch_decoder.h"

namespace {

using pintle::Result;

struct Outcome {
  std::vector<std::string> parts;
  bool is_refused = false;
  bool operator==(const Outcome&) const = default;
};

template <typename Splitter>
Outcome Split(Splitter splitter, std::string_view text, std::size_t piece_size) {
  Outcome outcome;
  const auto take = [&](std::string_view part) -> Result<> {
    outcome.parts.emplace_back(part);
    return {};
  };
  while (!text.empty() && !outcome.is_refused) {
    outcome.is_refused = !splitter.Feed(text.substr(0, piece_size), take);
    text.remove_prefix(std::min(piece_size, text.size()));
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pintle::kube;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const Outcome lines = Split(LineSplitter(), text, size);
  if (Split(LineSplitter(), text, 1) != lines) std::abort();
  for (const std::string& line : lines.parts) {
    const auto decoded = DecodeWatchLine(line);
    if (!decoded) continue;
    if (const auto* const event = std::get_if<WatchEvent>(&*decoded)) {
      static_cast<void>(ResourceVersionOf(event->object));
      static_cast<void>(NameIn(event->object));
    }
  }

  const Outcome elements = Split(ListSplitter(), text, size);
  if (Split(ListSplitter(), text, 1) != elements) std::abort();
  // If the whole text is valid JSON, each element that the splitter finds in it must be, too.
  const auto whole = pintle::json::Parse(text);
  if (whole && whole->is_object() && !elements.is_refused) {
    for (const std::string& element : elements.parts) {
      if (!pintle::json::Parse(element)) std::abort();
    }
  }

  const Failure failure = FailureFrom({.status = 500, .version = {}, .headers = {}}, text);
  if (failure.error.message().find('\n') != std::string::npos) std::abort();
  return 0;
}
