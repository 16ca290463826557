// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports what is wrong with configs to the person who wrote them: each problem with its file, its place and its
// remedy.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/machine_config.h"
#include "json/field_list.h"
#include "machineconfig/config_input.h"

namespace pintle::ctl {

// One problem, as `pintle validate -o json` prints it and PrintConfigProblem() puts it into a line.
struct ConfigProblem {
  std::string file;
  std::optional<std::uint64_t> line;
  std::optional<std::uint64_t> column;
  std::string object;
  std::string severity;  // "error" or "warning".
  std::string path;
  std::string problem;
  std::string remedy;

  static constexpr auto kFields = json::FieldList{
      json::Required{"file", &ConfigProblem::file},         json::Field{"line", &ConfigProblem::line},
      json::Field{"column", &ConfigProblem::column},        json::Field{"object", &ConfigProblem::object},
      json::Required{"severity", &ConfigProblem::severity}, json::Field{"path", &ConfigProblem::path},
      json::Required{"problem", &ConfigProblem::problem},   json::Field{"remedy", &ConfigProblem::remedy},
  };
};

// Returns a problem about a whole file, with the severity "error".
ConfigProblem ProblemOfFile(const std::string& file, std::string problem);

bool IsError(const ConfigProblem& problem);

// Returns all problems of a file; `path` is its path.
std::vector<ConfigProblem> ProblemsOf(const std::string& path, const machineconfig::ConfigFile& file);
// Returns the errors that make every machine refuse a config; `path` is the file of the config.
std::vector<ConfigProblem> ErrorsOf(const std::string& path, const api::MachineConfig& config);
// Returns the warnings about a document; `path` is the file of the document.
std::vector<ConfigProblem> WarningsOf(const std::string& path, const json::Report& report);

// Prints a problem to standard error, on one line.
void PrintConfigProblem(const ConfigProblem& problem);

}  // namespace pintle::ctl
