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

// One problem, as `pintle validate -o json` prints it and PrintFinding() puts it into a line.
struct Finding {
  std::string file;
  std::optional<std::uint64_t> line;
  std::optional<std::uint64_t> column;
  std::string object;
  std::string severity;
  std::string path;
  std::string problem;
  std::string remedy;

  static constexpr auto kFields = json::FieldList{
      json::Required{"file", &Finding::file},         json::Field{"line", &Finding::line},
      json::Field{"column", &Finding::column},        json::Field{"object", &Finding::object},
      json::Required{"severity", &Finding::severity}, json::Field{"path", &Finding::path},
      json::Required{"problem", &Finding::problem},   json::Field{"remedy", &Finding::remedy},
  };
};

// Makes a finding about a whole file.
Finding WholeFinding(const std::string& file, std::string problem);

bool IsError(const Finding& finding);

// Returns all problems of a file.
std::vector<Finding> FindingsOn(const std::string& path, const machineconfig::ConfigFile& file);
// Returns the errors for which every machine refuses a config; `path` is the file of the config.
std::vector<Finding> ErrorsOf(const std::string& path, const api::MachineConfig& config);
// Returns the warnings about a document; `path` is the file of the document.
std::vector<Finding> WarningsOf(const std::string& path, const json::Report& report);

// Prints a finding to standard error.
void PrintFinding(const Finding& finding);

}  // namespace pintle::ctl
