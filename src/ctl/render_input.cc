// SPDX-License-Identifier: Apache-2.0
#include "ctl/render_input.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "ctl/config_problems.h"
#include "gotext/quote.h"
#include "ignition/butane.h"
#include "json/known_keys.h"
#include "json/parse.h"
#include "machineconfig/config_input.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"

namespace pintle::ctl {
namespace {

// Reads Butane with the name and the role of a MachineConfig.  Butane without them is an error.
Result<api::MachineConfig> ReadNamedButane(const std::string& file, json::Value value) {
  machineconfig::ConfigDocument document = machineconfig::ReadButaneDocument(std::move(value));
  for (const ConfigProblem& warning : WarningsOf(file, document.report)) PrintConfigProblem(warning);
  api::MachineConfig object = TRY(machineconfig::ToMachineConfig(std::move(document)));
  TRY(machineconfig::ExpectNameAndRole(object));
  return object;
}

// Describes an object that is not a MachineConfig.
std::string KindAndName(const json::Value& object) {
  const std::string_view kind = machineconfig::KindOf(object);
  if (!json::IsPlainName(kind)) return "an object of another kind";
  const json::Value* name = object.Find({"metadata", "name"});
  if (name == nullptr || !name->is_string()) return std::string(kind);
  return fmt::format("{} {}", kind, name->text());
}

Error WithoutKind(const json::Value& object) {
  const bool is_ignition = object.is_object() && object.contains("ignition");
  return Error(ErrorKind::kInvalid, is_ignition ? "Object 'Kind' is missing: this is Ignition alone; put it below "
                                                  "spec.config of a MachineConfig"
                                                : "Object 'Kind' is missing");
}

// Reads the files one after the other into a RenderInput.
class Reader {
 public:
  RenderInput Read(std::span<const std::string> inputs) && {
    auto named = machineconfig::FilesNamedBy(inputs, machineconfig::kNamedConfigEndings,
                                             machineconfig::EmptyDirectory::kRefused);
    input_.faults = std::move(named.faults);
    input_.left_out = std::move(named.left_out);
    for (const std::string& other : named.others) {
      input_.left_out.push_back(
          fmt::format("{}: its name ends in none of {}", other, fmt::join(machineconfig::kNamedConfigEndings, ", ")));
    }
    for (const machineconfig::InputFile& file : named.files) AddFile(file);
    return std::move(input_);
  }

 private:
  void AddFile(const machineconfig::InputFile& file) {
    const auto add = [&](json::Value object) -> Result<> {
      if (auto added = AddObject(file.path, std::move(object)); !added) AddFault(file.path, std::move(added).error());
      return {};
    };
    auto documents = machineconfig::ReadDocuments(file.path, file.accepts);
    const auto read = documents ? machineconfig::ForEachObject(*std::move(documents), add) : documents.error();
    if (!read) AddFault(file.path, read.error());
  }

  Result<> AddObject(const std::string& file, json::Value object) {
    const std::string_view kind = machineconfig::KindOf(object);
    if (ignition::IsButane(object)) {
      Add(file, TRY(ReadNamedButane(file, std::move(object))));
    } else if (kind.empty()) {
      return WithoutKind(object);
    } else if (kind == api::MachineConfig::kKind) {
      Add(file, TRY(machineconfig::ReadMachineConfig(std::move(object))));
    } else {
      input_.left_out.push_back(
          fmt::format("{}: {} is not a {}", file, KindAndName(object), api::MachineConfig::kKind));
    }
    return {};
  }

  void Add(const std::string& file, api::MachineConfig config) {
    input_.configs.push_back(std::move(config));
    input_.files.push_back(file);
  }

  void AddFault(const std::string& file, Error error) {
    const std::string name = gotext::Quoted(std::filesystem::path(file).filename().string());
    input_.faults.push_back(std::move(error).While(fmt::format("error parsing {} manifest", name)));
  }

  RenderInput input_;
};

}  // namespace

RenderInput ReadRenderInput(std::span<const std::string> inputs) { return Reader().Read(inputs); }

}  // namespace pintle::ctl
