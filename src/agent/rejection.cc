// SPDX-License-Identifier: Apache-2.0
#include "agent/rejection.h"

#include <string>
#include <tuple>

#include "json/fields.h"
#include "json/parse.h"

namespace pintle::agent {
namespace {

constexpr const char* kDirectory = "/var/lib/pintle";

// As it is kept.
struct Kept {
  std::string config;
  std::string image;
  std::string why;

  static constexpr auto kFields = std::tuple{
      json::Required{"config", &Kept::config},
      json::Field{"image", &Kept::image},
      json::Required{"why", &Kept::why},
  };
};

}  // namespace

Result<std::optional<Rejection>> ReadRejection(const Root& root) {
  if (!TRY(root.Status(kRejection))) return std::nullopt;
  json::Report report;
  const auto kept = json::Decode<Kept>(TRY(json::Parse(TRY(root.ReadFile(kRejection))), kRejection), report);
  TRY(report.ToResult(), kRejection);
  return Rejection{{kept.config, kept.image}, kept.why};
}

Result<> KeepRejection(const Root& root, const std::optional<Rejection>& rejection) {
  if (!rejection) return root.Remove(kRejection);
  TRY(root.MakeDirectories(kDirectory));
  const Kept kept = {rejection->goal.config, rejection->goal.image, rejection->why};
  return root.WriteFile(kRejection, json::ToIndentedText(json::Encode(kept)) + "\n");
}

}  // namespace pintle::agent
