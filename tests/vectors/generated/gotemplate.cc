// SPDX-License-Identifier: Apache-2.0

// Runs cases of Go's text/template: what it prints, and its errors.

#include <fmt/core.h>

#include <string>

#include "gotemplate/execute.h"
#include "gotemplate/json_value.h"
#include "gotemplate/template.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/go_values.h"
#include "vectors/generated/kinds.h"

namespace pintle::vectors {
namespace {

struct Answer {
  std::string output;
  std::string stage;  // The stage of the error, if there is one.
  std::string error;
};

gotemplate::MissingKey MissingKeyOf(const std::string& option) {
  if (option == "missingkey=error") return gotemplate::MissingKey::kError;
  if (option == "missingkey=zero") return gotemplate::MissingKey::kZero;
  return gotemplate::MissingKey::kInvalid;
}

Answer AnswerTo(const json::Value& test) {
  const auto has_function = [](std::string_view name) {
    return GoFunctions().contains(name) || gotemplate::Builtins().contains(name);
  };
  const auto parsed = gotemplate::Template::Parse("t", test.at("template").text(), has_function);
  if (!parsed) return {"", "parse", parsed.error().message()};
  gotemplate::Memory memory;
  gotemplate::Value data;
  if (const json::Value* go = test.Find("go")) {
    data = GoValue(go->text());
  } else if (const json::Value* document = test.Find("data")) {
    data = gotemplate::WithoutInterface(gotemplate::FromJson(*document, gotemplate::kAnyType, memory));
  }
  gotemplate::ExecuteOptions options;
  options.missing_key = MissingKeyOf(test.TextAt({"option"}));
  Answer answer;
  const auto result = gotemplate::Execute(*parsed, GoFunctions(), data, answer.output, options);
  if (!result) {
    answer.stage = "exec";
    answer.error = result.error().message();
  }
  return answer;
}

std::string DifferenceIn(const json::Value& test) {
  const Answer got = AnswerTo(test);
  const char* const output = test.contains("error") ? "outputBeforeError" : "output";
  const Answer expected = {test.TextAt({output}), test.TextAt({"errorStage"}), test.TextAt({"error"})};
  std::string difference = DifferenceOfTexts(expected.error, got.error);
  if (difference.empty()) difference = DifferenceOfTexts(expected.output, got.output);
  if (difference.empty()) difference = DifferenceOfTexts(expected.stage, got.stage);
  return difference;
}

}  // namespace

Tally RunGotemplate(const std::filesystem::path& folder) {
  Tally tally("gotemplate");
  for (const std::string& name : NamesIn(folder)) {
    if (!name.ends_with(".json")) continue;
    tally.Try(name, [&] {
      for (const json::Value& test : JsonOf(folder / name)) {
        const std::string& test_name = test.at("name").text();
        tally.Try(test_name, [&] { tally.Add(test_name, DifferenceIn(test)); });
      }
    });
  }
  return tally;
}

}  // namespace pintle::vectors
