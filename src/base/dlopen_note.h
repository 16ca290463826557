// SPDX-License-Identifier: Apache-2.0
#pragma once

// An ELF note names the libraries that a program loads only when it needs them.
//
// Packaging tools read it beside the list of linked libraries, and derive dependencies or recommendations from it.  Its
// format is that of systemd's "Package Metadata for dlopen()": a JSON list of objects.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pintle {

template <std::size_t kSize>
struct DlopenNote {
  explicit constexpr DlopenNote(const char (&json)[kSize]) { std::copy_n(json, kSize, description); }

  std::uint32_t owner_size = sizeof(owner);
  std::uint32_t description_size = kSize;
  std::uint32_t type = 0x407c0c0a;
  char owner[4] = {'F', 'D', 'O', '\0'};
  alignas(std::uint32_t) char description[kSize] = {};
};

}  // namespace pintle

// `name` must be unique in its scope, and `json` must be a string literal.
#define PINTLE_DLOPEN_NOTE(name, json) \
  [[gnu::used, gnu::section(".note.dlopen"), gnu::aligned(4)]] constexpr ::pintle::DlopenNote name(json)
