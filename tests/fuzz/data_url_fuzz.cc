// SPDX-License-Identifier: Apache-2.0

// A data URL is decoded or refused.  Bytes that are encoded as a data URL are decoded to the same bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "ignition/compression.h"
#include "ignition/data_url.h"
#include "ignition/url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace ignition = pintle::ignition;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto decoded = ignition::DecodeDataUrl(input);
  if (decoded.has_value() != ignition::DataUrlProblem(input).empty()) std::abort();
  if (decoded && ignition::IsGzip(*decoded)) static_cast<void>(ignition::Gunzip(*decoded, 1 << 20));
  static_cast<void>(ignition::SourceProblem(input, {.google_storage = true, .arn = true}));
  const auto again = ignition::DecodeDataUrl(ignition::EncodeDataUrl(input));
  if (!again || *again != input) std::abort();
  if (pintle::DecodeBase64(pintle::EncodeBase64(input)) != std::string(input)) std::abort();
  return 0;
}
