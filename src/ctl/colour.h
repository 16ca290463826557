// SPDX-License-Identifier: Apache-2.0
#pragma once

// Colour for a person at a terminal, and for nobody else.
//
// Verbs make their texts without it, and say here what a line means when it is printed, so that what is tested, piped
// and saved is the text alone.  https://no-color.org: no colour where NO_COLOR is set to anything.

#include <string>
#include <string_view>

namespace pintle::ctl {

enum class Colour { kNone, kGood, kAttention, kBad, kPlace };

// Whether standard output is a terminal that is to have colours.
bool OutputHasColours();

using ColourOfLine = Colour(std::string_view line);

// The text with each of its lines in its colour.
std::string Coloured(std::string_view text, ColourOfLine colour_of);

// On standard output, in colours where it has them.
void PrintColoured(std::string_view text, ColourOfLine colour_of);

// For PrintColoured(): what is there no more, and what is new.
ColourOfLine ColourOfDiff;

}  // namespace pintle::ctl
