// SPDX-License-Identifier: Apache-2.0
#pragma once

// Base64 with padding, in which line breaks do not count.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pintle {

// Where the first byte is that cannot stand there; nothing when all is well.
std::optional<std::size_t> FindBase64Problem(std::string_view text);

// Nothing when the text is not base64.
std::optional<std::string> DecodeBase64(std::string_view text);

std::string EncodeBase64(std::string_view bytes);

}  // namespace pintle
