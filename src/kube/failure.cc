// SPDX-License-Identifier: Apache-2.0
#include "kube/failure.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "api/lenient.h"
#include "base/ascii.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "json/fields.h"

namespace pintle::kube {
namespace {

// If the server asks for a longer wait, the request is repeated after this time.
constexpr std::int64_t kLongestRetryAfterSeconds = 120;
// A refusal may contain the whole object that was refused.
constexpr std::size_t kRefusalLimit = 1000;
// The limit for an answer in plain text, such as that of a server that panics.
constexpr std::size_t kPlainTextLimit = 200;

struct StatusCause {
  std::string reason;
  std::string message;

  static constexpr bool kLenient = true;
  static constexpr auto kFields =
      json::FieldList{json::Field{"reason", &StatusCause::reason}, json::Field{"message", &StatusCause::message}};
};

struct StatusDetails {
  std::vector<StatusCause> causes;
  std::int64_t retry_after_seconds = 0;

  static constexpr bool kLenient = true;
  static constexpr auto kFields =
      json::FieldList{json::Field{"causes", &StatusDetails::causes},
                      json::Field{"retryAfterSeconds", &StatusDetails::retry_after_seconds}};
};

struct Status {
  std::string kind;
  std::string message;
  std::string reason;
  StatusDetails details;
  int code = 0;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"kind", &Status::kind},     json::Field{"message", &Status::message},
      json::Field{"reason", &Status::reason}, json::Field{"details", &Status::details},
      json::Field{"code", &Status::code},
  };
};

ErrorKind KindOf(int status) {
  switch (status) {
    case 404:
      return ErrorKind::kNotFound;
    case 409:
      return ErrorKind::kConflict;
    case 408:
    case 410:
    case 429:
      return ErrorKind::kUnavailable;
    default:
      return status >= 500 ? ErrorKind::kUnavailable : ErrorKind::kInvalid;
  }
}

// Returns a single line without control characters, safe for logs and terminals.  The limit is in characters.
std::string Harmless(std::string text, std::size_t limit = kRefusalLimit) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  std::string beginning = FirstCharacters(text, limit);
  if (beginning.size() < text.size()) beginning += " ...";
  // This escapes the control characters beyond ASCII, which a terminal obeys as well.
  return Printable(beginning);
}

// A webhook chooses its reason freely; the API server's reasons are one word.
bool IsReason(std::string_view text) {
  constexpr std::size_t kLongestReason = 40;
  return !text.empty() && text.size() <= kLongestReason && std::all_of(text.begin(), text.end(), IsLetter);
}

// Returns the wait for which the server asks, or nullopt if the number is not positive.
std::optional<std::chrono::milliseconds> Seconds(std::int64_t seconds) {
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, kLongestRetryAfterSeconds));
}

// The header's other form, a date, is not used by Kubernetes.
std::optional<std::chrono::milliseconds> RetryAfter(const net::HttpHead& head) {
  const auto text = head.Find("Retry-After");
  std::int64_t seconds = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), seconds).ec != std::errc()) {
    return std::nullopt;
  }
  return Seconds(seconds);
}

// Returns nullopt if the object is not a Status.  A Status with an invalid number still counts for its message.
std::optional<Status> ReadStatus(json::Value object) {
  json::Report report;
  Status status = json::Decode<Status>(std::move(object), report);
  if (status.kind != "Status" || (report.has_errors() && status.message.empty())) return std::nullopt;
  return status;
}

// Returns the first line of an answer that is neither HTML nor JSON.
std::string PlainText(std::string_view body) {
  const std::string_view line = body.substr(0, body.find_first_of("\r\n"));
  const bool is_text = !line.empty() && line.find_first_of("<{[") == std::string_view::npos;
  return is_text && IsUtf8(line) ? ": " + Harmless(std::string(line), kPlainTextLimit) : "";
}

Failure FromStatus(Status status, int code) {
  Failure failure = {
      .error = Error(KindOf(code), fmt::format("{} (status {}{}{})", Harmless(status.message), code,
                                               status.reason.empty() ? "" : " ", Harmless(status.reason))),
      .status = code};
  failure.reason = std::move(status.reason);
  failure.retry_after = Seconds(status.details.retry_after_seconds);
  for (const StatusCause& cause : status.details.causes) {
    if (cause.reason != "DisruptionBudget") continue;
    failure.disruption_budget = Harmless(cause.message.empty() ? status.message : cause.message);
  }
  return failure;
}

}  // namespace

Failure FailureFrom(const net::HttpHead& head, std::string_view body) {
  std::optional<Status> status;
  if (auto object = json::Parse(body)) status = ReadStatus(*std::move(object));
  // A proxy may answer in place of the API server, without a Status.
  if (!status) {
    return {
        .error = Error(KindOf(head.status), fmt::format("the answer has status {}{}", head.status, PlainText(body))),
        .status = head.status,
        .retry_after = RetryAfter(head)};
  }
  Failure failure = FromStatus(*std::move(status), head.status);
  if (const auto from_header = RetryAfter(head)) failure.retry_after = from_header;
  return failure;
}

bool IsUnknownPath(const net::HttpHead& head, std::string_view body) {
  return head.status == 404 && body.starts_with("404 page not found");
}

Failure FailureFrom(json::Value status_object) {
  auto status = ReadStatus(std::move(status_object));
  if (!status)
    return {.error = Error(ErrorKind::kUnavailable, "the watch ended with an error that is not a Status object")};
  // A Status has no code if, for instance, it reports a panic in the server.
  const int code = status->code == 0 ? 500 : status->code;
  return FromStatus(*std::move(status), code);
}

Failure WithoutMessage(Failure failure) {
  const bool is_reason = IsReason(failure.reason);
  failure.error = Error(failure.error.kind(),
                        fmt::format("the answer has status {}{}{}; its message is left out, as it may quote the secret",
                                    failure.status, is_reason ? " " : "", is_reason ? failure.reason : ""));
  failure.disruption_budget.reset();
  return failure;
}

Failure While(Failure failure, std::string_view doing) {
  failure.error = std::move(failure.error).While(doing);
  return failure;
}

}  // namespace pintle::kube
