// SPDX-License-Identifier: Apache-2.0
#pragma once

// An ELF note that names the libraries which a program loads only when it needs them.
//
// Packaging tools read it as they read what a program is linked with, and make it a dependency or a recommendation.
// Its form is that of systemd's "Package Metadata for dlopen()": a JSON list of objects.

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

// NAME is a constant that nothing else uses; JSON is a literal.
#define PINTLE_DLOPEN_NOTE(name, json) \
  [[gnu::used, gnu::section(".note.dlopen"), gnu::aligned(4)]] constexpr ::pintle::DlopenNote name(json)
