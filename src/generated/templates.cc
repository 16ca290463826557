// SPDX-License-Identifier: Apache-2.0
#include "generated/templates.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "api/machine_config_pool.h"
#include "base/ascii.h"
#include "generated/invalid.h"
#include "generated/template_functions.h"
#include "generated/template_text.h"
#include "gotemplate/execute.h"
#include "gotext/quote.h"
#include "gotext/unicode.h"
#include "json/parse.h"
#include "machineconfig/merge_all.h"

namespace pintle::generated {
namespace {

// The text that a template has printed, and the file or unit in it.
struct TemplateOutput {
  const TemplateEntry* entry = nullptr;
  std::string text;
  bool is_blank = false;
  std::optional<ignition::File> file;
  std::optional<ignition::Unit> unit;
};

// The outputs of one config's templates, by the templates' file names.
struct TemplateOutputs {
  using ByName = std::map<std::string, TemplateOutput*>;
  ByName files;
  ByName units;
  ByName extensions;
};

// Returns the name of a platform's folder.  An unknown platform uses the folder "none".
Result<std::string> PlatformFolder(std::string_view platform) {
  constexpr auto kKnown =
      std::to_array<std::string_view>({"AWS", "Azure", "BareMetal", "GCP", "OpenStack", "Libvirt", "oVirt", "VSphere",
                                       "KubeVirt", "PowerVS", "None", "External", "Nutanix"});
  if (platform.empty()) return Invalid("cannot generate MachineConfigs when no platformStatus.type is set");
  if (platform == "_base") return Invalid("platform _base unsupported");
  if (std::find(kKnown.begin(), kKnown.end(), platform) == kKnown.end()) return std::string("none");
  return InLowerCase(platform);
}

// Returns the folders that apply to this cluster.  A later folder takes precedence.
Result<std::vector<std::string>> FoldersFor(const RenderConfig& config) {
  std::string platform_folder = TRY(PlatformFolder(config.platform()));
  std::vector<std::string> folders = {"_base"};
  if (IsOnPremises(config.platform())) folders.emplace_back("on-prem");
  if (HasCloudLoadBalancerAddresses(config.value())) folders.emplace_back("cloud-platform-alt-dns");
  folders.push_back(std::move(platform_folder));
  if (config.control_plane_topology() == "SingleReplica") folders.emplace_back("sno");
  if (config.control_plane_topology() == "DualReplica") folders.emplace_back("two-node-with-fencing");
  return folders;
}

// Finds a folder inside of `in`.  Returns nullptr if there is no entry of this name.  A file of this name is an error.
Result<const TemplateEntry*> FindFolder(const TemplateEntry& in, std::string_view name) {
  if (!in.is_folder) {
    const std::string path = fmt::format("{}/{}", in.path, name);
    return Invalid(fmt::format("failed to open dir {}: stat {}: not a directory", gotext::Quoted(path), path));
  }
  const TemplateEntry* entry = in.Find(name);
  if (entry == nullptr || entry->is_folder) return entry;
  return Invalid(fmt::format("expected template directory, {} is not a directory", gotext::Quoted(entry->path)));
}

// Returns whether `outcome`, which is the text that a template has printed or the error of the template, may contain a
// part of the pull secrets.  A template can print secrets in more forms than HasSecret() knows, so the template is
// executed again with other secrets.
bool DependsOnSecret(std::string_view outcome, const gotemplate::Template& parsed, const RenderConfig& config) {
  if (config.HasSecret(outcome)) return true;
  const RenderConfig other = config.WithOtherSecrets();
  std::string text;
  const auto result = gotemplate::Execute(parsed, TemplateFunctions(), other.value(), text);
  return outcome != (result ? text : result.error().message());
}

// Makes the configs of several roles.  Common templates are executed and decoded once, because their data does not
// contain the role.
class ConfigMaker {
 public:
  explicit ConfigMaker(const RenderConfig& config) : config_(config) {}

  // Makes the config of one folder.  `common` has the templates of all roles, which become a part of the first config
  // of each role; for other configs it is nullptr.
  Result<MachineConfig> Make(std::string_view role, const std::string& name, const TemplateEntry& folder,
                             const TemplateEntry* common) {
    const std::vector<std::string> names = TRY(FoldersFor(config_));
    std::vector<const TemplateEntry*> folders;
    for (const TemplateEntry* parent : {common, &folder}) {
      if (parent == nullptr) continue;
      for (const std::string& platform : names) {
        if (const TemplateEntry* found = TRY(FindFolder(*parent, platform))) folders.push_back(found);
      }
    }
    TemplateOutputs outputs;
    for (const TemplateEntry* each : folders) TRY(Print(*each, outputs));
    MachineConfig made;
    made.name = name;
    made.role = role;
    const ignition::Config ignition = TRY(Transpile(outputs), "error transpiling CoreOS config to Ignition config");
    made.config = ConfigText(ignition);
    std::vector<std::string> extensions;
    for (const auto& [extension, printed] : outputs.extensions) extensions.push_back(extension);
    if (!extensions.empty()) made.extensions = std::move(extensions);
    return made;
  }

 private:
  Result<> Print(const TemplateEntry& platform, TemplateOutputs& outputs) {
    const std::array<std::pair<std::string_view, TemplateOutputs::ByName*>, 3> kinds = {
        {{"files", &outputs.files}, {"units", &outputs.units}, {"extensions", &outputs.extensions}}};
    for (const auto& [name, to] : kinds) {
      if (const TemplateEntry* folder = TRY(FindFolder(platform, name))) TRY(PrintAll(*folder, *to));
    }
    return {};
  }

  // Executes all templates of a folder.  Templates in subfolders are identified by their file names only.  An empty
  // file removes the output of an earlier template of the same name.  TemplateFolder limits the depth of folders, and
  // so the recursion.
  Result<> PrintAll(const TemplateEntry& folder, TemplateOutputs::ByName& outputs) {
    for (const auto& [name, entry] : folder.entries) {
      if (entry.is_folder) {
        TRY(PrintAll(entry, outputs));
      } else if (entry.is_empty) {
        outputs.erase(name);
      } else {
        TRY(PrintOne(name, entry, outputs));
      }
    }
    return {};
  }

  // Executes a template.  If it prints only white space, it does not replace an earlier template of the same name.
  Result<> PrintOne(const std::string& name, const TemplateEntry& entry, TemplateOutputs::ByName& outputs) {
    const auto [printed, is_new] = outputs_.try_emplace(&entry);
    if (is_new) {
      printed->second.entry = &entry;
      printed->second.text = TRY(TextOf(entry));
      printed->second.is_blank = gotext::IsBlank(printed->second.text);
    }
    if (!printed->second.is_blank) outputs.insert_or_assign(name, &printed->second);
    return {};
  }

  Result<std::string> TextOf(const TemplateEntry& entry) const {
    if (*entry.parsed) return TextOfTemplate(**entry.parsed, config_);
    return Invalid(fmt::format("failed to parse template {}: {}", entry.path, entry.parsed->error().message()));
  }

  Result<ignition::Config> Transpile(const TemplateOutputs& outputs) const {
    std::vector<ignition::Config> parts;
    for (const auto& [name, printed] : outputs.files) {
      TRY(DecodeFile(*printed));
      parts.emplace_back(ConfigOf({})).storage.files.push_back(*printed->file);
    }
    for (const auto& [name, printed] : outputs.units) {
      TRY(DecodeUnit(*printed));
      parts.emplace_back(ConfigOf({})).systemd.units.push_back(*printed->unit);
    }
    return machineconfig::MergeAll(ignition::Config(), std::move(parts));
  }

  Result<> DecodeFile(TemplateOutput& printed) const {
    if (printed.file) return {};
    auto file = ReadTemplateFile(printed.text);
    if (!file) {
      const bool is_secret = HasSecret(printed);
      const std::string what = is_secret ? "a text with the pull secret in it" : gotext::Quoted(printed.text);
      if (is_secret) file = ReadTemplateFile(printed.text, Quotes::kForbidden);
      return Invalid(fmt::format("failed to unmarshal {} into struct: {}{}", what, file.error().message(),
                                 is_secret ? PlaceOf(printed) : ""));
    }
    printed.file = *std::move(file);
    return {};
  }

  Result<> DecodeUnit(TemplateOutput& printed) const {
    if (printed.unit) return {};
    auto unit = ReadTemplateUnit(printed.text);
    if (!unit) {
      const bool is_secret = HasSecret(printed);
      if (is_secret) unit = ReadTemplateUnit(printed.text, Quotes::kForbidden);
      return Invalid(fmt::format("failed to unmarshal systemd unit into struct: {}{}", unit.error().message(),
                                 is_secret ? PlaceOf(printed) : ""));
    }
    printed.unit = *std::move(unit);
    return {};
  }

  // Returns whether errors must not quote the text.
  bool HasSecret(const TemplateOutput& printed) const {
    return DependsOnSecret(printed.text, **printed.entry->parsed, config_);
  }

  static std::string PlaceOf(const TemplateOutput& printed) {
    return fmt::format("; the template is {}", printed.entry->path);
  }

  const RenderConfig& config_;
  std::unordered_map<const TemplateEntry*, TemplateOutput> outputs_;
};

Result<std::vector<MachineConfig>> MakeConfigsOfRole(const TemplateFolder& templates, std::string_view role,
                                                     ConfigMaker& maker) {
  const bool has_own_templates = role == api::kMasterPool || role == api::kWorkerPool || role == api::kArbiterPool;
  const std::string_view folder_name = has_own_templates ? role : api::kWorkerPool;
  const TemplateEntry* folder = templates.root().Find(folder_name);
  if (folder == nullptr || !folder->is_folder) {
    const std::string path = fmt::format("{}/{}", templates.root().path, folder_name);
    return Invalid(
        fmt::format("failed to read dir {}: open {}: no such file or directory", gotext::Quoted(path), path));
  }
  const TemplateEntry* common = templates.root().Find(kCommonFolder);
  std::vector<MachineConfig> configs;
  for (const auto& [name, entry] : folder->entries) {
    if (!entry.is_folder) continue;
    configs.push_back(TRY(maker.Make(role, name, entry, configs.empty() ? common : nullptr)));
  }
  return configs;
}

// Returns the JSON without the white space between its tokens.
std::string WithoutSpace(std::string_view json) {
  std::string compact;
  bool is_in_text = false;
  bool is_escaped = false;
  for (const char c : json) {
    if (!is_in_text && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    compact += c;
    if (is_escaped) {
      is_escaped = false;
    } else if (is_in_text && c == '\\') {
      is_escaped = true;
    } else if (c == '"') {
      is_in_text = !is_in_text;
    }
  }
  return compact;
}

}  // namespace

Result<std::string> CompactPullSecret(std::string_view pull_secret) {
  if (pull_secret.empty()) return Invalid("couldn't compact pullsecret \"\": unexpected end of JSON input");
  TRY(json::Parse(pull_secret), "couldn't compact pullsecret");
  return WithoutSpace(pull_secret);
}

Result<std::string> TextOfTemplate(const gotemplate::Template& parsed, const RenderConfig& config) {
  std::string text;
  auto result = gotemplate::Execute(parsed, TemplateFunctions(), config.value(), text);
  if (!result && DependsOnSecret(result.error().message(), parsed, config)) {
    return Invalid(
        fmt::format("failed to execute template: template: {}: its error contains the pull secret and is not printed",
                    parsed.name()));
  }
  TRY(std::move(result), "failed to execute template");
  return text;
}

Result<std::vector<MachineConfig>> MachineConfigsOfRole(const TemplateFolder& templates, const RenderConfig& config,
                                                        std::string_view role) {
  ConfigMaker maker(config);
  return MakeConfigsOfRole(templates, role, maker);
}

Result<std::vector<MachineConfig>> MachineConfigsOfTemplates(const TemplateFolder& templates,
                                                             const RenderConfig& config,
                                                             std::string_view controller_version) {
  ConfigMaker maker(config);
  std::vector<MachineConfig> configs;
  for (const auto& [role, entry] : templates.root().entries) {
    if (!entry.is_folder || role == kCommonFolder) continue;
    if (role == api::kArbiterPool && config.control_plane_topology() != "HighlyAvailableArbiter") continue;
    std::vector<MachineConfig> of_role =
        TRY(MakeConfigsOfRole(templates, role, maker), fmt::format("failed to create MachineConfig for role {}", role));
    std::move(of_role.begin(), of_role.end(), std::back_inserter(configs));
  }
  for (MachineConfig& config_made : configs) {
    config_made.annotations = MadeBy(controller_version);
  }
  std::stable_sort(configs.begin(), configs.end(),
                   [](const MachineConfig& a, const MachineConfig& b) { return a.name < b.name; });
  return configs;
}

api::OwnerReference OwnerOfTemplates(const json::Value& controller_config) {
  api::ObjectMeta owner;
  owner.name = controller_config.TextAt({"metadata", "name"});
  owner.uid = controller_config.TextAt({"metadata", "uid"});
  return ControlledBy("ControllerConfig", owner);
}

}  // namespace pintle::generated
