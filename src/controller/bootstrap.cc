// SPDX-License-Identifier: Apache-2.0
#include "controller/bootstrap.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/command_line.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/root.h"
#include "base/version.h"
#include "generated/bootstrap.h"
#include "generated/bootstrap_files.h"
#include "generated/feature_gates.h"
#include "generated/manifests.h"
#include "generated/pull_secret.h"
#include "generated/template_folder.h"
#include "json/fields.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"

namespace pintle::controller {
namespace {

constexpr const char* kUsualTemplates = "/etc/mcc/templates";

constexpr std::array kBootstrapOptions = {
    Option{"--manifest-dir", "DIR", "the folder with the manifests of the cluster"},
    Option{"--dest-dir", "DIR", "the folder for the rendered configs; it is made if it does not exist"},
    Option{"--pull-secret", "FILE", "the manifest of the Secret with the credentials of registries"},
    Option{"--templates", "DIR", "the operator's templates [/etc/mcc/templates]"},
    Option{"--release-version", "VERSION",
           "the release whose feature gates apply [that of the ControllerConfig, or 0.0.1-snapshot]"},
    Option{"--payload-version", "VERSION",
           "render only from a ControllerConfig that this version of the operator has written [any version]"},
    Option{"--controller-version", "VERSION", "the version that rendered configs are annotated with [that of Pintle]"},
    Option{"--help", "", "print this help"},
};

// The configs contain the pull secret, so only their owner and their group may read them.
constexpr FileMode kBootstrapFileMode = {.permissions = 0640, .owner = {}};
constexpr FileMode kBootstrapFolderMode = {.permissions = 0750, .owner = {}};

struct BootstrapOptions {
  std::string manifests;
  std::string destination;
  std::string pull_secret;
  std::string templates;
  std::string release;  // Empty to use the release of the ControllerConfig.
  generated::BootstrapVersions versions;
};

Result<BootstrapOptions> ReadBootstrapOptions(const CommandLine& line) {
  if (!line.operands().empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("unexpected argument \"{}\" (see --help)", line.operands()[0]));
  }
  std::string manifests = TRY(line.Needed("--manifest-dir"));
  std::string destination = TRY(line.Needed("--dest-dir"));
  std::string pull_secret = TRY(line.Needed("--pull-secret"));
  return BootstrapOptions{
      .manifests = std::move(manifests),
      .destination = std::move(destination),
      .pull_secret = std::move(pull_secret),
      .templates = line.Value("--templates").value_or(kUsualTemplates),
      .release = line.Value("--release-version").value_or(""),
      .versions = {.controller = line.Value("--controller-version").value_or(std::string(kVersion)),
                   .operator_version = line.Value("--payload-version").value_or("")},
  };
}

Result<std::string> ReadPullSecretManifest(const std::string& file) {
  std::vector<json::Value> documents = TRY(machineconfig::ReadDocuments(file));
  if (documents.size() != 1) {
    return Error(ErrorKind::kInvalid, fmt::format("{}: the file must contain exactly one Secret", file));
  }
  const auto secret =
      TRY(machineconfig::ReadObject<api::Secret>(std::move(documents.front()), api::Secret::kKind), file);
  return TRY(generated::PullSecretIn(secret), file);
}

// Returns the release whose feature gates apply.  Fails if the FeatureGate does not list that release.
Result<std::string> ReleaseFor(const BootstrapOptions& options, const generated::Manifests& manifests) {
  std::string release = options.release.empty() ? generated::ReleaseOf(*manifests.controller_config) : options.release;
  const auto gates = generated::FeatureGatesOf(*manifests.feature_gate, release);
  if (gates) return release;
  std::string known;
  for (const auto& gates_of : manifests.feature_gate->status.feature_gates) known += " " + gates_of.version;
  return Error(ErrorKind::kInvalid,
               fmt::format("error creating feature gates handler: {}; the FeatureGate lists{}; name the release with "
                           "--release-version",
                           gates.error().message(), known.empty() ? " none" : known));
}

Result<generated::BootstrapFiles> MakeFiles(const BootstrapOptions& options) {
  const generated::Manifests manifests = TRY(generated::ReadManifests(options.manifests));
  TRY(generated::CheckComplete(manifests, options.manifests));
  TRY(generated::CheckKubeletAndRuntimeConfigs(manifests));
  std::string pull_secret = TRY(ReadPullSecretManifest(options.pull_secret));
  std::string release = TRY(ReleaseFor(options, manifests));
  const generated::BootstrapSettings settings{.pull_secret = std::move(pull_secret),
                                              .controller_version = options.versions.controller,
                                              .release = std::move(release)};
  const auto templates = TRY(generated::TemplateFolder::ReadRelease(options.templates), "--templates");
  const auto made = TRY(generated::ConfigsAtBootstrap(manifests, templates, settings));
  auto files = TRY(generated::FilesForBootstrap(manifests, made.configs, options.versions));
  files.warnings.insert(files.warnings.begin(), made.complaints.begin(), made.complaints.end());
  files.warnings.insert(files.warnings.begin(), manifests.without_effect.begin(), manifests.without_effect.end());
  if (manifests.pools.empty()) {
    files.warnings.push_back(
        fmt::format("{}: there is no MachineConfigPool, so nothing is rendered", options.manifests));
  }
  return files;
}

// Writes files in the given order, each of them atomically.  The files of pools come last, so even after an
// interruption no pool names a config that is missing.
class BootstrapWriter {
 public:
  explicit BootstrapWriter(const std::string& directory) : directory_(directory) {}

  Result<> Write(const std::vector<generated::BootstrapFile>& files) {
    std::error_code failed;
    std::filesystem::create_directories(directory_, failed);
    if (failed) return Error::FromErrno("--dest-dir: making the directory " + directory_, failed.value());
    const Root root = TRY(Root::Open(directory_), "--dest-dir");
    for (const generated::BootstrapFile& file : files) {
      if (auto written = WriteOne(root, file); !written) return WithProgress(std::move(written).error());
      written_.push_back(file.path);
    }
    return {};
  }

  // Returns the files of earlier runs that a server would still use.
  Result<std::vector<std::string>> Leftovers() const {
    const Root root = TRY(Root::Open(directory_), "--dest-dir");
    std::vector<std::string> leftovers;
    for (const char* folder : {generated::kPoolsFolder, generated::kApiServerFolder}) {
      if (!TRY(root.Status(folder))) continue;
      for (const std::string& name : TRY(root.List(folder))) {
        std::string path = fmt::format("{}/{}", folder, name);
        const bool is_written = std::find(written_.begin(), written_.end(), path) != written_.end();
        if (!is_written) leftovers.push_back(std::move(path));
      }
    }
    return leftovers;
  }

 private:
  static Result<> WriteOne(const Root& root, const generated::BootstrapFile& file) {
    TRY(root.MakeDirectories(file.path.substr(0, file.path.rfind('/')), kBootstrapFolderMode));
    return root.WriteFile(file.path, file.text, kBootstrapFileMode);
  }

  // Adds to the error which files were written before it.
  Error WithProgress(Error error) const {
    const std::string_view advice = "remove the cause and run the same command again";
    if (written_.empty()) {
      return Error(error.kind(), fmt::format("{}: {}; nothing was written; {}", directory_, error.message(), advice));
    }
    return Error(error.kind(), fmt::format("{}: {}; these files were written before, each of them whole: {}; {}",
                                           directory_, error.message(), fmt::join(written_, ", "), advice));
  }

  const std::string directory_;
  std::vector<std::string> written_;
};

void PrintProblem(std::string_view text) { PrintToStderr(fmt::format("pintle-controller bootstrap: {}\n", text)); }

Result<> MakeAndWrite(const BootstrapOptions& options) {
  const generated::BootstrapFiles made = TRY(MakeFiles(options));
  for (const std::string& warning : made.warnings) PrintProblem(warning);
  BootstrapWriter writer(options.destination);
  TRY(writer.Write(made.files));
  for (const std::string& path : TRY(writer.Leftovers())) {
    PrintProblem(
        fmt::format("{}/{}: this file is from an earlier run and may still be served; remove it if the cluster does "
                    "not need it",
                    options.destination, path));
  }
  for (const generated::RenderedPool& pool : made.rendered) {
    Print(Printable(fmt::format("{}: {}", pool.pool, pool.config)) + "\n");
  }
  return {};
}

}  // namespace

ExitStatus Bootstrap(const std::vector<std::string_view>& arguments) {
  const auto line = CommandLine::Parse(kBootstrapOptions, arguments);
  if (line && line->Has("--help")) {
    Print(fmt::format(
        "Usage: pintle-controller bootstrap --manifest-dir DIR --dest-dir DIR --pull-secret FILE [OPTION...]\n\n{}",
        Describe(kBootstrapOptions)));
    return ExitStatus::kSuccess;
  }
  const auto options = line ? ReadBootstrapOptions(*line) : Result<BootstrapOptions>(line.error());
  const auto outcome = options ? MakeAndWrite(*options) : Result<>(options.error());
  if (outcome) return ExitStatus::kSuccess;
  PrintProblem(outcome.error().message());
  return ExitStatus::kFailure;
}

}  // namespace pintle::controller
