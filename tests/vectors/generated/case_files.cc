// SPDX-License-Identifier: Apache-2.0
#include "vectors/generated/case_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "json/fields.h"
#include "json/parse.h"
#include "machineconfig/yaml.h"
#include "vectors/differences.h"

namespace pintle::vectors {
namespace {

template <typename T>
T OrThrow(Result<T> result, const std::filesystem::path& path) {
  if (!result) throw std::runtime_error(path.string() + ": " + result.error().message());
  return *std::move(result);
}

// Converts a config to the form that the vectors have.
json::Value InFormOfVectors(const generated::MachineConfig& config) {
  json::Value document = json::Encode(generated::ToObject(config));
  json::Value object = json::Value::object();
  for (const char* key : {"name", "labels", "annotations", "ownerReferences"}) {
    if (json::Value* member = document["metadata"].Find(key)) object[key] = std::move(*member);
  }
  object["spec"] = std::move(document["spec"]);
  return object;
}

std::string DifferenceOf(const std::filesystem::path& folder, const json::Value& entry,
                         const generated::MachineConfig& config) {
  const json::Value expected = JsonOf(folder / entry.at("file").text());
  const json::Value got = InFormOfVectors(config);
  const std::string differences = Differences(&expected, &got);
  if (!differences.empty()) return config.name + differences;
  if (generated::ConfigDigest(config) != entry.at("sha256OfSpecConfigRaw").text()) return config.name + ": other bytes";
  return "";
}

}  // namespace

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

json::Value JsonOf(const std::filesystem::path& path) { return OrThrow(json::Parse(TextOf(path)), path); }

std::vector<json::Value> DocumentsOf(const std::filesystem::path& path) {
  return OrThrow(machineconfig::ParseYaml(TextOf(path)), path);
}

std::vector<std::string> NamesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string DifferenceFrom(const std::filesystem::path& folder,
                           const Result<std::vector<generated::MachineConfig>>& configs) {
  const bool expects_error = std::filesystem::exists(folder / "error.txt");
  if (!configs) return DifferenceOfTexts(expects_error ? TextOf(folder / "error.txt") : "", configs.error().message());
  if (expects_error) return "should be an error: " + TextOf(folder / "error.txt");
  const json::Value order = JsonOf(folder / "_order.json");
  if (order.size() != configs->size()) return fmt::format("{} configs, not {}", configs->size(), order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string& name = (*configs)[i].name;
    if (order[i].at("name").text() != name) {
      return fmt::format("the config {} is {}, not {}", i, name, order[i].at("name").text());
    }
    if (std::string difference = DifferenceOf(folder, order[i], (*configs)[i]); !difference.empty()) return difference;
  }
  return "";
}

std::string DifferenceOfTexts(std::string_view expected, std::string_view got) {
  while (expected.ends_with('\n') && !got.ends_with('\n')) expected.remove_suffix(1);
  return expected == got ? "" : fmt::format("is not [{}] but [{}]", expected, got);
}

}  // namespace pintle::vectors
