// SPDX-License-Identifier: Apache-2.0
#pragma once

// The forms of a verb's answer, by -o: a text for people, or the same for programs.

#include <string_view>

#include "ctl/command_line.h"
#include "json/parse.h"

namespace pintle::ctl {

// What -o may be for verbs that print a text without it.
inline constexpr Option kDataOption = {"-o", "json|yaml", "print JSON or YAML instead of a text"};
// For verbs whose answer is about things that have names.
inline constexpr Option kListOption = {"-o", "json|yaml|name", "print JSON or YAML instead of a text, or just names"};

enum class Form { kText, kJson, kYaml, kName };

// By -o, which has been checked against the option's values.
Form FormOf(const CommandLine& line, Form usual = Form::kText);

// On standard output, as JSON or YAML.
void PrintData(const json::Value& answer, Form form);

// On standard output, for -o name: one a line, as `pintle` takes it again.
void PrintName(std::string_view name);

}  // namespace pintle::ctl
