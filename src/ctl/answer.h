// SPDX-License-Identifier: Apache-2.0
#pragma once

// The forms of a verb's answer, chosen by -o: a text for people, or JSON, YAML or names for programs.

#include <string_view>

#include "ctl/command_line.h"
#include "json/parse.h"

namespace pintle::ctl {

// The option of verbs that print a text if -o is not given.
inline constexpr Option kOutputOption = {"-o", "json|yaml", "print JSON or YAML instead of a text"};
// The same option, for verbs whose answer is about things with names.
inline constexpr Option kOutputOrNamesOption = {"-o", "json|yaml|name",
                                                "print JSON or YAML instead of a text, or just names"};

enum class Form { kText, kJson, kYaml, kName };

// Returns the form that -o asks for, or `usual` without -o.  The parser of the command line has checked the value
// already.
Form FormOf(const CommandLine& line, Form usual = Form::kText);

// Prints an answer to standard output, as JSON or YAML.
void PrintData(const json::Value& answer, Form form);

// Prints a name on a line of its own to standard output, for -o name.  No kind precedes the name, so other commands of
// `pintle` accept it.
void PrintName(std::string_view name);

}  // namespace pintle::ctl
