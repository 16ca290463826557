// SPDX-License-Identifier: Apache-2.0
#include "change/format.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>

#include "change/set_aside_remedy.h"

namespace pintle::change {
namespace {

constexpr const char* kVersionKey = "version";

constexpr std::array kAll = {format::kJournal,    format::kRejected,   format::kIgnored,
                             format::kPolicy,     format::kRegistries, format::kStagedImage,
                             format::kHandedOver, format::kPasswords,  format::kWriters};

// Returns the version, or nullptr if the document names none.
const json::Value* VersionIn(const Format& format, const json::Value& document) {
  const json::Value* const version = document.Find(kVersionKey);
  // A map that was written without a version may have an entry named "version", for example for a user of this name.
  // The value of such an entry is never a number.
  const bool is_entry = version != nullptr && format.member != nullptr && !version->is_integer();
  return is_entry ? nullptr : version;
}

Error TooNew(const Format& format, std::int64_t version) {
  std::string text = fmt::format(
      "a newer Pintle wrote it in version {} of its format, and this one knows version {}; install the newer one again",
      version, format.version);
  if (format.can_be_set_aside) text += ", or give up what the file holds with `pintle recover --set-aside`";
  return Error(ErrorKind::kTooNew, std::move(text));
}

Result<> ExpectKnown(const Format& format, const json::Value& version) {
  if (!version.is_integer() || version.integer() < 1) {
    return Error(ErrorKind::kInvalid, "the version of its format is not a positive number");
  }
  return version.integer() > format.version ? Result<>(TooNew(format, version.integer())) : Result<>();
}

}  // namespace

std::span<const Format> AllFormats() { return kAll; }

json::Value WithVersion(const Format& format, json::Value contents) {
  json::Value document = json::Value::object();
  if (format.member == nullptr) {
    document = std::move(contents);
  } else {
    document[format.member] = std::move(contents);
  }
  document[kVersionKey] = format.version;
  return document;
}

std::string TextWithVersion(const Format& format, json::Value contents) {
  return json::ToIndentedText(WithVersion(format, std::move(contents))) + "\n";
}

Result<json::Value> WithoutVersion(const Format& format, json::Value document) {
  const json::Value* const version = VersionIn(format, document);
  if (version == nullptr) return document;
  TRY(ExpectKnown(format, *version));
  document.Erase(kVersionKey);
  if (format.member == nullptr) return document;
  json::Value* const contents = document.Find(format.member);
  if (contents == nullptr || document.size() != 1) {
    return Error(ErrorKind::kInvalid, fmt::format("its members must be {} and {}", kVersionKey, format.member));
  }
  return std::move(*contents);
}

Result<> ExpectKnownVersion(const Root& root, const Format& format) {
  const auto text = root.ReadFile(format.path);
  if (!text) return {};
  const auto document = json::Parse(*text);
  if (!document) return {};
  const json::Value* const version = VersionIn(format, *document);
  if (version == nullptr) return {};
  auto known = ExpectKnown(format, *version);
  if (known || known.error().kind() != ErrorKind::kTooNew) return {};
  return WithSetAsideRemedy(format.path, std::move(known));
}

Result<> ExpectKnownVersions(const Root& root) {
  for (const Format& format : kAll) TRY(ExpectKnownVersion(root, format));
  return {};
}

}  // namespace pintle::change
