// SPDX-License-Identifier: Apache-2.0

// Compares whole installations: all files that are written, or the error.
//
// The order of a pool's configuration.source differs from run to run of the operator, so it is not compared.

#include "generated/bootstrap.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "generated/bootstrap_files.h"
#include "generated/manifests.h"
#include "generated/pull_secret.h"
#include "generated/template_folder.h"
#include "json/fields.h"
#include "machineconfig/objects.h"
#include "machineconfig/yaml.h"
#include "vectors/differences.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/kinds.h"

namespace pintle::vectors {
namespace {

namespace fs = std::filesystem;

// The texts of files by their paths below the destination.
using Texts = std::map<std::string, std::string>;

// Returns the files that we write for an installation from the manifests in a case's folder.
Result<Texts> Bootstrapped(const fs::path& folder, const generated::TemplateFolder& templates) {
  const std::string manifest_folder = folder / "manifests";
  const generated::Manifests manifests = TRY(generated::ReadManifests(manifest_folder));
  TRY(generated::CheckComplete(manifests, manifest_folder));
  const auto secret = TRY(machineconfig::ReadObject<api::Secret>(JsonOf(folder / "pull-secret.json"), "Secret"));
  const generated::BootstrapSettings settings{.pull_secret = TRY(generated::PullSecretIn(secret)),
                                              .controller_version = "HASH",
                                              .release = generated::ReleaseOf(*manifests.controller_config)};
  const auto made = TRY(generated::ConfigsAtBootstrap(manifests, templates, settings));
  const auto files =
      TRY(generated::FilesForBootstrap(manifests, made.configs, {.controller = "HASH", .operator_version = "VERSION"}));
  Texts texts;
  for (const generated::BootstrapFile& file : files.files) texts.emplace(file.path, file.text);
  return texts;
}

Texts ExpectedTexts(const fs::path& out) {
  Texts texts;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(out)) {
    if (entry.is_regular_file()) texts.emplace(entry.path().lexically_relative(out).string(), TextOf(entry.path()));
  }
  return texts;
}

std::vector<std::string> PathsOf(const Texts& texts) {
  std::vector<std::string> paths;
  for (const auto& [path, text] : texts) paths.push_back(path);
  return paths;
}

json::Value OneDocument(const std::string& text) {
  auto documents = machineconfig::ParseYaml(text);
  if (!documents || documents->size() != 1) throw std::runtime_error("the file of a pool is not one document of YAML");
  return std::move(documents->front());
}

json::Value WithSortedSources(json::Value pool) {
  for (const char* part : {"spec", "status"}) {
    auto& sources = pool[part]["configuration"]["source"].elements();
    std::sort(sources.begin(), sources.end(),
              [](const json::Value& a, const json::Value& b) { return a.TextAt({"name"}) < b.TextAt({"name"}); });
  }
  return pool;
}

std::string DifferenceOfFile(const std::string& path, const std::string& expected, const std::string& got) {
  if (!path.starts_with("machine-pools/")) return expected == got ? "" : path + " has other bytes";
  const json::Value wanted = WithSortedSources(OneDocument(expected));
  const json::Value made = WithSortedSources(OneDocument(got));
  const std::string differences = Differences(&wanted, &made);
  return differences.empty() ? "" : path + differences;
}

std::string DifferenceOfFiles(const Texts& expected, const Texts& got) {
  const std::vector<std::string> wanted = PathsOf(expected);
  if (PathsOf(got) != wanted) {
    return fmt::format("the files are {}, not {}", fmt::join(PathsOf(got), " "), fmt::join(wanted, " "));
  }
  for (const auto& [path, text] : expected) {
    if (std::string difference = DifferenceOfFile(path, text, got.at(path)); !difference.empty()) return difference;
  }
  return "";
}

// Returns how our error differs from the operator's.  Ours may also have a place before the operator's text, or a
// remedy after it.
std::string DifferenceOfErrors(std::string expected, const std::string& got) {
  while (expected.ends_with('\n')) expected.pop_back();
  return got.starts_with(expected) || got.ends_with(expected) ? "" : DifferenceOfTexts(expected, got);
}

std::string DifferenceOfCase(const fs::path& folder, const generated::TemplateFolder& templates) {
  const Result<Texts> got = Bootstrapped(folder, templates);
  const fs::path error = folder / "out/error.txt";
  if (!fs::exists(error)) return got ? DifferenceOfFiles(ExpectedTexts(folder / "out"), *got) : got.error().message();
  if (got) return "should be an error: " + TextOf(error);
  return DifferenceOfErrors(TextOf(error), got.error().message());
}

}  // namespace

Tally RunBootstrap(const fs::path& folder) {
  Tally tally("bootstrap");
  auto templates = generated::TemplateFolder::Read("own-templates-bootstrap");
  if (!templates) throw std::runtime_error(templates.error().message());
  for (const std::string& name : NamesIn(folder)) {
    tally.Try(name, [&] { tally.Add(name, DifferenceOfCase(folder / name, *templates)); });
  }
  return tally;
}

}  // namespace pintle::vectors
