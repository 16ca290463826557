// SPDX-License-Identifier: Apache-2.0
#include "net/tls_settings.h"

#include "base/root.h"

namespace pintle::net {
namespace {

// A distribution's authorities take less than a quarter of a megabyte.
constexpr std::size_t kPemLimit = 4 << 20;

}  // namespace

Result<std::string> ReadPem(const Pem& pem) {
  if (const auto* text = std::get_if<PemText>(&pem)) return text->text;
  const Root root = TRY(Root::Open("/"));
  return TRY(root.ReadFile(std::get<PemFile>(pem).path, kPemLimit));
}

}  // namespace pintle::net
