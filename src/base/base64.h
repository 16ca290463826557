// SPDX-License-Identifier: Apache-2.0
#pragma once

// Base64 with padding.  Line breaks in the text are ignored.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pintle {

// Returns the offset that Go's encoding/base64 reports for an invalid text, or nullopt if the text is valid.
std::optional<std::size_t> FindBase64Problem(std::string_view text);

// Returns nullopt if the text is not valid base64.
std::optional<std::string> DecodeBase64(std::string_view text);

std::string EncodeBase64(std::string_view bytes);

}  // namespace pintle
