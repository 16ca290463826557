// SPDX-License-Identifier: Apache-2.0
#pragma once

// An ELF note names the libraries that a program loads only when it needs them.
//
// Packaging tools read the note in addition to the list of linked libraries, and derive dependencies or recommendations
// from it.  The format is that of systemd's "Package Metadata for dlopen()": a JSON list of objects.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pintle {

// This is an aggregate, since GCC makes the section writable if the class has a constructor.
template <std::size_t kSize>
struct DlopenNote {
  std::uint32_t owner_size;
  std::uint32_t description_size;
  std::uint32_t type;
  char owner[4];
  alignas(std::uint32_t) char description[kSize];
};

template <std::size_t kSize>
constexpr DlopenNote<kSize> MakeDlopenNote(const char (&json)[kSize]) {
  constexpr std::uint32_t kType = 0x407c0c0a;  // The specification assigns this type to these notes.
  DlopenNote<kSize> note{sizeof(note.owner), kSize, kType, {'F', 'D', 'O', '\0'}, {}};
  std::copy_n(json, kSize, note.description);
  return note;
}

}  // namespace pintle

// `name` must be unique in its scope, and `json` must be a string literal.
#define PINTLE_DLOPEN_NOTE(name, json) \
  [[gnu::used, gnu::section(".note.dlopen"), gnu::aligned(4)]] constexpr auto name = ::pintle::MakeDlopenNote(json)
