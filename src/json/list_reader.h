// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a large list of objects quickly, and element by element, so that it takes little memory.
//
// The text need not be in memory as a whole: ReadList() can read it through a window, which only has to hold the
// largest element.
//
// ReadList() returns nullopt for every text that is not well-formed.  It also returns nullopt for a few well-formed
// texts: those with duplicate keys, numbers out of range, a byte order mark or very deep values, and those that exceed
// a limit.  The caller then uses Parse() of json/parse.h, which describes errors.  For all other texts, both read the
// same values.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "json/parse.h"
#include "json/shape.h"
#include "json/value.h"

namespace pintle::json {

// The parts of elements that are checked and then left out.  The check does not find duplicate keys in them.
//
// A part of an element is named by the member that it is in: "the objects `parent`" are all objects that are the member
// `parent` of another object, or elements of a list that is such a member.  With a `kind`, the part is left out only of
// elements whose member `kind` has this value, and only if this member comes before the part.

// Which values of a member are left out.  With kStrings, a value that a decoder would refuse because it is no string is
// kept, so that the decoder reports it.
enum class OmittedValues : std::uint8_t { kAll, kStrings };

// The member `key` of the objects `parent` is left out.
struct Omission {
  std::string_view parent;
  std::string_view key;
  std::string_view kind = {};
  OmittedValues values = OmittedValues::kAll;
};

// In the objects `parent`, all members are left out except those whose keys begin with one of the prefixes.
struct PrefixChoice {
  std::string_view kind;
  std::string_view parent;
  std::span<const std::string_view> prefixes;
};

// In the lists `list`, an element is left out if its member `key` is a string that is not one of the wanted ones.
struct ElementChoice {
  std::string_view kind;
  std::string_view list;
  std::string_view key;
  std::span<const std::string_view> wanted;
};

struct Omissions {
  std::span<const Omission> members = {};
  std::span<const PrefixChoice> prefixes = {};
  std::span<const ElementChoice> elements = {};
};

// Takes an element of a list.  Returns false to stop.
using TakeElement = std::function<bool(Value element)>;

// Passes each element of a list to `take` as soon as it has been read.  The list is the text itself, or the member
// `items` of the object that is the text.  Returns the text without the elements of the list.  Returns nullopt if
// `take` has returned false, or if the text has to be read by Parse(), for example because it has no such list.
std::optional<Value> ReadList(std::string_view text, const Omissions& omissions, const TakeElement& take,
                              const ParseLimits& limits = {});

// The elements of one kind, which are read into an object without making a Value.  The kind is looked up in the first
// three members of an element, and omissions for this kind apply to the whole element.  An element that has a member
// `items`, or that cannot be decoded, has to be read by Parse().
struct DirectKind {
  std::string_view kind;
  const Shape& shape;            // A struct's.
  std::function<void*()> begin;  // Returns a new object.  It is called again if an element has to be read again.
  std::function<bool()> take;    // Takes the object that has been read.  Returns false to stop.
};

// Reads the next bytes of a text into a buffer, which is not empty.  Returns their number, 0 at the end of the text, or
// nullopt if they cannot be read.
using ReadPiece = std::function<std::optional<std::size_t>(std::span<char> to)>;

// The first size of the window.  A window that fits into the cache of a processor core takes less time than memory that
// is used only once, for which the kernel has to clear each page.
inline constexpr std::size_t kReadWindow = std::size_t{256} << 10;

// Also reads the text itself.  `window` is at least 1; the window grows if an element does not fit.  Returns nullopt,
// too, if the text cannot be read.
std::optional<Value> ReadList(const ReadPiece& read, const Omissions& omissions, const TakeElement& take,
                              const ParseLimits& limits = {}, std::size_t window = kReadWindow,
                              std::span<const DirectKind> direct = {});

}  // namespace pintle::json
