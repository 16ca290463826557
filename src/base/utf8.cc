// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <cstddef>

namespace pintle {
namespace {

// The length of a character and the range of its second byte.  Later bytes may be any from 0x80 to 0xBF.
struct Form {
  std::size_t length;
  unsigned char from = 0x80;
  unsigned char to = 0xBF;
};

// Returns the form of the characters that begin with this byte.  A length of 0 means that there are none.
Form FormOf(unsigned char first) {
  if (first < 0x80) return {1};
  if (first < 0xC2) return {0};
  if (first < 0xE0) return {2};
  if (first == 0xE0) return {3, 0xA0};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3};
  if (first == 0xF0) return {4, 0x90};
  if (first < 0xF4) return {4};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Character FirstUtf8Character(std::string_view text) {
  const Form form = FormOf(static_cast<unsigned char>(text.front()));
  if (form.length == 0) return {false, 1};
  for (std::size_t i = 1; i < form.length; ++i) {
    if (i == text.size()) return {false, i};
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < (i == 1 ? form.from : 0x80) || byte > (i == 1 ? form.to : 0xBF)) return {false, i};
  }
  return {true, form.length};
}

void AppendUtf8(char32_t code, std::string& to) {
  const auto append = [&](char32_t byte) { to += static_cast<char>(byte); };
  const auto append_tail = [&](unsigned shift) { append(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return append(code);
  if (code < 0x800) {
    append(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    append(0xE0 | (code >> 12));
    append_tail(6);
  } else {
    append(0xF0 | (code >> 18));
    append_tail(12);
    append_tail(6);
  }
  append_tail(0);
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Character first = FirstUtf8Character(bytes);
    if (!first.is_valid) return false;
    bytes.remove_prefix(first.length);
  }
  return true;
}

}  // namespace pintle
