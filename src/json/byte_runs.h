// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the ends of runs of bytes that JSON has many of: blanks, and plain characters of strings.
//
// Many bytes are looked at together.  A processor with SSE2 looks at sixteen.  The functions in `portable` have the
// same results on every processor, and look at eight.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace pintle::json {

constexpr bool IsBlankByte(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Returns whether a byte of a string is a whole character that stands for itself: not a quote, a backslash, a control
// character, or a byte of a character that is not ASCII.
constexpr bool IsPlainByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

namespace portable {

// Returns how many bytes of a word in memory come before the first one that is not 0.  The word is not 0.
inline int BytesBefore(std::uint64_t word) {
  // The first byte in memory is the highest one on some machines.  There, the callers look at each byte.
  if constexpr (std::endian::native != std::endian::little) return 0;
  return std::countr_zero(word) / 8;
}

// Returns a word whose byte i has its highest bit set if the byte i of `word` is not plain.  Bytes above the first such
// byte may be set wrongly.
inline std::uint64_t EndsOfPlain(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighest = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes; };
  const std::uint64_t quotes = has_zero(word ^ (kOnes * '"'));
  const std::uint64_t backslashes = has_zero(word ^ (kOnes * '\\'));
  const std::uint64_t controls = (word - kOnes * 0x20) & ~word;
  return (quotes | backslashes | controls | word) & kHighest;
}

inline const char* SkipPlainBytes(const char* at, const char* end) {
  while (end - at >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if (const std::uint64_t ends = EndsOfPlain(word); ends != 0) {
      at += BytesBefore(ends);
      break;
    }
    at += sizeof word;
  }
  while (at != end && IsPlainByte(*at)) ++at;
  return at;
}

inline const char* SkipBlankBytes(const char* at, const char* end) {
  // Programs that write for people indent lines with many spaces.
  constexpr std::uint64_t kSpaces = 0x2020202020202020;
  if (at != end && *at == '\n') ++at;
  while (end - at >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if (word != kSpaces) {
      at += BytesBefore(word ^ kSpaces);
      break;
    }
    at += sizeof word;
  }
  while (at != end && IsBlankByte(*at)) ++at;
  return at;
}

}  // namespace portable

#ifdef __SSE2__

// Returns the first byte from `at` on that is not plain, or `end`.
inline const char* SkipPlainBytes(const char* at, const char* end) {
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    // The comparison is signed, so it also finds bytes that are not ASCII.
    const __m128i others = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    const int ends = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, backslashes), others));
    if (ends != 0) return at + std::countr_zero(static_cast<unsigned>(ends));
    at += sizeof bytes;
  }
  return portable::SkipPlainBytes(at, end);
}

// Returns the first byte from `at` on that is not blank, or `end`.
inline const char* SkipBlankBytes(const char* at, const char* end) {
  if (at == end || static_cast<unsigned char>(*at) > ' ') return at;
  // Between a key and its value there is usually one space.
  if (end - at >= 2 && *at == ' ' && static_cast<unsigned char>(at[1]) > ' ') return at + 1;
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i spaces = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
    const __m128i tabs = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
    const __m128i feeds = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
    const __m128i returns = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r'));
    const __m128i blanks = _mm_or_si128(_mm_or_si128(spaces, tabs), _mm_or_si128(feeds, returns));
    const unsigned ends = ~static_cast<unsigned>(_mm_movemask_epi8(blanks)) & 0xFFFFU;
    if (ends != 0) return at + std::countr_zero(ends);
    at += sizeof bytes;
  }
  return portable::SkipBlankBytes(at, end);
}

#else

using portable::SkipBlankBytes;
using portable::SkipPlainBytes;

#endif

}  // namespace pintle::json
