// SPDX-License-Identifier: Apache-2.0
#include "ignition/verification.h"

#include <fmt/core.h>

#include "base/digest.h"

namespace pintle::ignition {

std::string_view HashProblem(std::string_view hash, bool knows_sha256) {
  const std::size_t dash = hash.find('-');
  if (dash == std::string_view::npos) return "malformed hash specifier";
  const std::string_view function = hash.substr(0, dash);
  const bool is_sha256 = function == "sha256" && knows_sha256;
  if (!is_sha256 && function != "sha512") return "unrecognized hash function";
  const std::size_t digits = is_sha256 ? 64 : 128;
  return hash.size() - dash - 1 == digits ? "" : "incorrect size for hash sum";
}

Result<> VerifyHash(std::string_view bytes, std::string_view hash) {
  if (const std::string_view problem = HashProblem(hash, true); !problem.empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("verification hash: {}", problem));
  }
  const auto algorithm = hash.starts_with("sha256-") ? DigestAlgorithm::kSha256 : DigestAlgorithm::kSha512;
  const Digest wanted = TRY(Digest::FromHex(algorithm, hash.substr(hash.find('-') + 1)), "verification hash");
  const Digest found = DigestOf(algorithm, bytes);
  if (found == wanted) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("the contents have the hash {}, but the config requires {}", found.hex(), wanted.hex()));
}

}  // namespace pintle::ignition
