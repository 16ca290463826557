// SPDX-License-Identifier: Apache-2.0
#pragma once

// Colours output for a person at a terminal.
//
// Verbs make their texts without colours, and choose the colour of each line when it is printed, so that only plain
// text is tested, piped and saved.  As https://no-color.org asks, there are no colours if the environment variable
// NO_COLOR is not empty.

#include <string>
#include <string_view>

namespace pintle::ctl {

// kPlace is for lines that only name a place in a file, such as the "@@" lines of a diff.
enum class Colour { kNone, kGood, kAttention, kBad, kPlace };

// Returns whether standard output is a terminal that should have colours.
bool OutputHasColours();

// A function that chooses the colour of a line.
using ColourOfLine = Colour(std::string_view line);

// Returns the text with each line in its colour.
std::string Coloured(std::string_view text, ColourOfLine colour_of);

// Prints to standard output, in colours if OutputHasColours().
void PrintColoured(std::string_view text, ColourOfLine colour_of);

// Returns the colour of a line of a diff, for PrintColoured().  Added lines, removed lines and "@@" lines have
// different colours.
Colour ColourOfDiff(std::string_view line);

}  // namespace pintle::ctl
