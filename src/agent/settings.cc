// SPDX-License-Identifier: Apache-2.0
#include "agent/settings.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "base/time_span.h"
#include "base/utf8.h"
#include "host/systemd/unit_name.h"
#include "net/url.h"

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kFileLimit = 1 << 20;  // In bytes.
constexpr std::array<std::string_view, 2> kMainFiles = {"/etc/pintle/pintled.conf", "/usr/lib/pintle/pintled.conf"};
// The directories with the highest priority come first.
constexpr std::array<std::string_view, 3> kDropInDirectories = {
    "/etc/pintle/pintled.conf.d", "/run/pintle/pintled.conf.d", "/usr/lib/pintle/pintled.conf.d"};

constexpr std::size_t kLongestNodeName = 253;  // A DNS name may have this length.

constexpr std::string_view kSpace = " \t\r";

std::string_view Stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view left = Stripped(text); !left.empty(); left = Stripped(left)) {
    const std::size_t end = std::min(left.find_first_of(kSpace), left.size());
    words.emplace_back(left.substr(0, end));
    left.remove_prefix(end);
  }
  return words;
}

bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }

// Returns the error for a value that breaks a rule, such as "be an absolute path".
Error Must(std::string rule) { return Error(ErrorKind::kInvalid, "must " + std::move(rule)); }

// Each of these functions sets one value.  The value is never empty, because Key::set_empty handles keys without a
// value.

Result<> SetSource(std::string_view value, Settings& settings) {
  constexpr std::array<std::pair<std::string_view, SourceChoice>, 3> kChoices = {
      {{"auto", SourceChoice::kAuto}, {"kubernetes", SourceChoice::kKubernetes}, {"local", SourceChoice::kLocal}}};
  for (const auto& [name, choice] : kChoices) {
    if (value != name) continue;
    settings.source = choice;
    return {};
  }
  return Must("be auto, kubernetes or local");
}

template <auto kMember>
Result<> SetName(std::string_view value, Settings& settings) {
  const bool is_name =
      value.size() <= kLongestNodeName && IsLowerOrDigit(value.front()) && IsLowerOrDigit(value.back()) &&
      std::all_of(value.begin(), value.end(), [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '.'; });
  if (!is_name) return Must("be the name of a node: lower-case letters, digits, \"-\" and \".\"");
  settings.*kMember = value;
  return {};
}

template <std::string Settings::*kMember>
Result<> SetPath(std::string_view value, Settings& settings) {
  if (!value.starts_with('/')) return Must("be an absolute path");
  settings.*kMember = value;
  return {};
}

template <bool Settings::*kMember>
Result<> SetBoolean(std::string_view value, Settings& settings) {
  constexpr std::array<std::string_view, 4> kYes = {"yes", "true", "on", "1"}, kNo = {"no", "false", "off", "0"};
  const bool is_yes = std::find(kYes.begin(), kYes.end(), value) != kYes.end();
  if (!is_yes && std::find(kNo.begin(), kNo.end(), value) == kNo.end()) {
    return Must("be yes or no (true, false, on, off, 1, 0)");
  }
  settings.*kMember = is_yes;
  return {};
}

template <milliseconds Settings::*kMember>
Result<> SetTime(std::string_view value, Settings& settings) {
  const milliseconds time = TRY(ParseTimeSpan(value));
  if (time == milliseconds(0)) return Must("be longer than 0");
  settings.*kMember = time;
  return {};
}

Result<> SetFullCheck(std::string_view value, Settings& settings) {
  const milliseconds time = TRY(ParseTimeSpan(value));
  settings.full_check = time == milliseconds(0) ? std::nullopt : std::optional(time);
  return {};
}

// As with lists of systemd, each line adds to the lines before it.
Result<> SetUnits(std::string_view value, Settings& settings) {
  std::vector<std::string> units = WordsOf(value);
  for (const std::string& unit : units) {
    const auto name = host::UnitName::Parse(unit);
    if (!name || name->kind() == host::UnitNameKind::kTemplate) {
      return Must("be names of units, such as kubelet.service");
    }
  }
  if (!settings.health_units) settings.health_units.emplace();
  std::move(units.begin(), units.end(), std::back_inserter(*settings.health_units));
  return {};
}

bool IsLoopback(const std::string& address) {
  in_addr four = {};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six = {};
  return ::inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

// Parses an address such as "127.0.0.1:9797" or "[::1]:9797".
std::optional<ListenAddress> ParseListen(std::string_view value) {
  const std::size_t colon = value.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view address = value.substr(0, colon);
  const std::string_view port = value.substr(colon + 1);
  const bool has_brackets = address.starts_with('[') && address.ends_with(']');
  if (has_brackets) address = address.substr(1, address.size() - 2);
  if (has_brackets != (address.find(':') != std::string_view::npos)) return std::nullopt;
  ListenAddress listen = {std::string(address), 0};
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  if (failed != std::errc() || end != port.data() + port.size() || listen.port == 0) return std::nullopt;
  return IsLoopback(listen.address) ? std::optional(listen) : std::nullopt;
}

Result<> SetListen(std::string_view value, Settings& settings) {
  settings.metrics_listen = ParseListen(value);
  if (!settings.metrics_listen) return Must("be a loopback address and a port, such as 127.0.0.1:9797 or [::1]:9797");
  return {};
}

template <auto kMember>
void TakeDefault(Settings& settings) {
  settings.*kMember = Settings().*kMember;
}
void SetNoUnits(Settings& settings) { settings.health_units.emplace(); }
void SetNoMetricsFile(Settings& settings) { settings.metrics_file.clear(); }

Result<> SetKubeletHealth(std::string_view value, Settings& settings) {
  if (!net::Url::Parse(value)) return Must("be a URL with http:// or https://, or empty");
  settings.kubelet_health = value;
  return {};
}
void SetNoKubeletHealth(Settings& settings) { settings.kubelet_health.clear(); }

struct Key {
  std::string_view section;
  std::string_view name;
  Result<> (*set)(std::string_view value, Settings& settings);
  void (*set_empty)(Settings& settings);
};

constexpr auto kKeys = std::array{
    Key{"Agent", "Source", SetSource, TakeDefault<&Settings::source>},
    Key{"Agent", "NodeName", SetName<&Settings::node_name>, TakeDefault<&Settings::node_name>},
    Key{"Agent", "ConfigDirectory", SetPath<&Settings::config_directory>, TakeDefault<&Settings::config_directory>},
    Key{"Agent", "PolicyFile", SetPath<&Settings::policy_file>, TakeDefault<&Settings::policy_file>},
    Key{"Agent", "WatchLogins", SetBoolean<&Settings::watch_logins>, TakeDefault<&Settings::watch_logins>},
    Key{"Agent", "FullCheckSec", SetFullCheck, TakeDefault<&Settings::full_check>},
    Key{"Kubernetes", "Kubeconfig", SetPath<&Settings::kubeconfig>, TakeDefault<&Settings::kubeconfig>},
    Key{"Kubernetes", "KubeletHealth", SetKubeletHealth, SetNoKubeletHealth},
    Key{"Kubernetes", "EventNamespace", SetName<&Settings::event_namespace>, TakeDefault<&Settings::event_namespace>},
    Key{"Kubernetes", "DrainTimeoutSec", SetTime<&Settings::drain_timeout>, TakeDefault<&Settings::drain_timeout>},
    Key{"Kubernetes", "WaitForHandover", SetBoolean<&Settings::wait_for_handover>,
        TakeDefault<&Settings::wait_for_handover>},
    Key{"Health", "Units", SetUnits, SetNoUnits},
    Key{"Health", "CheckDirectory", SetPath<&Settings::check_directory>, TakeDefault<&Settings::check_directory>},
    Key{"Health", "LimitSec", SetTime<&Settings::health_limit>, TakeDefault<&Settings::health_limit>},
    Key{"Metrics", "TextFile", SetPath<&Settings::metrics_file>, SetNoMetricsFile},
    Key{"Metrics", "Listen", SetListen, TakeDefault<&Settings::metrics_listen>},
};

bool IsSection(std::string_view name) {
  return std::any_of(kKeys.begin(), kKeys.end(), [&](const Key& key) { return key.section == name; });
}

std::string AllSections() {
  std::string sections;
  std::string_view last;
  for (const Key& key : kKeys) {
    if (key.section != last) sections += fmt::format("{}[{}]", sections.empty() ? "" : ", ", key.section);
    last = key.section;
  }
  return sections;
}

std::string AllKeys(std::string_view section) {
  std::string keys;
  for (const Key& key : kKeys) {
    if (key.section == section) keys += fmt::format("{}{}=", keys.empty() ? "" : ", ", key.name);
  }
  return keys;
}

// Reads one file and collects its problems.
class SettingsReader {
 public:
  SettingsReader(std::string_view file, Settings& settings) : file_(file), settings_(settings) {}

  void Take(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      ++line_;
      TakeLine(Stripped(text.substr(begin, end - begin)));
      begin = end + 1;
    }
  }

  Result<> Outcome() && {
    if (problems_.empty()) return {};
    return Error(ErrorKind::kInvalid, std::move(problems_));
  }

 private:
  void TakeLine(std::string_view line) {
    if (line.empty() || line.starts_with('#') || line.starts_with(';')) return;
    if (line.starts_with('[')) return TakeHead(line);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return Note("must be Key=value");
    TakeKey(Stripped(line.substr(0, equals)), Stripped(line.substr(equals + 1)));
  }

  void TakeHead(std::string_view line) {
    section_ = line.ends_with(']') ? line.substr(1, line.size() - 2) : std::string_view();
    is_known_section_ = IsSection(section_);
    if (!is_known_section_) Note(fmt::format("unknown section; the sections are {}", AllSections()));
  }

  void TakeKey(std::string_view name, std::string_view value) {
    if (!is_known_section_) return;  // The problem was noted at the section's head.
    if (section_.empty()) return Note(fmt::format("must be in a section: {}", AllSections()));
    const auto key = std::find_if(kKeys.begin(), kKeys.end(),
                                  [&](const Key& known) { return known.section == section_ && known.name == name; });
    if (key == kKeys.end()) {
      return Note(fmt::format("unknown key in [{}]; the keys are {}", section_, AllKeys(section_)));
    }
    if (value.empty()) return key->set_empty(settings_);
    const Result<> set = key->set(value, settings_);
    if (!set) Note(fmt::format("{}=: {}", name, set.error().message()));
  }

  // A problem names the place and the cause, but not the text, since a URL may have a password in it.
  void Note(const std::string& problem) {
    problems_ += fmt::format("{}{}:{}: {}", problems_.empty() ? "" : "; ", file_, line_, problem);
  }

  std::string_view file_;
  Settings& settings_;
  std::string_view section_;
  bool is_known_section_ = true;  // Keys before the first section are reported by themselves.
  int line_ = 0;
  std::string problems_;
};

bool IsMissing(const Error& error) { return error.errno_value() == ENOENT || error.errno_value() == ENOTDIR; }

// Returns whether the file is a link to /dev/null, which need not exist below this root.
Result<bool> IsMask(const Root& root, const std::string& file) {
  const auto status = TRY(root.Status(file));
  return status && S_ISLNK(status->st_mode) && TRY(root.ReadLink(file)) == "/dev/null";
}

Result<> AddFile(const Root& root, const std::string& file, Settings& settings) {
  if (TRY(IsMask(root, file))) return {};
  return AddSettings(TRY(root.ReadFile(file, kFileLimit)), file, settings);
}

Result<std::optional<std::string>> MainFile(const Root& root) {
  for (const std::string_view file : kMainFiles) {
    if (TRY(root.Status(file))) return std::string(file);
  }
  return std::nullopt;
}

// Returns the paths of the drop-ins, with the names of the files as keys.  Files are read in the order of their names.
Result<std::map<std::string, std::string>> DropIns(const Root& root) {
  std::map<std::string, std::string> paths;
  for (const std::string_view directory : kDropInDirectories) {
    const auto names = root.List(directory);
    if (!names && !IsMissing(names.error())) return names.error();
    if (!names) continue;
    for (const std::string& name : *names) {
      if (name.ends_with(".conf") && !name.starts_with('.')) paths.emplace(name, fmt::format("{}/{}", directory, name));
    }
  }
  return paths;
}

}  // namespace

Result<> AddSettings(std::string_view text, std::string_view file, Settings& settings) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // Skips a byte order mark.
  if (!IsUtf8(text) || text.find('\0') != std::string_view::npos) {
    return Error(ErrorKind::kInvalid, fmt::format("{}: must be text in UTF-8", file));
  }
  SettingsReader reader(file, settings);
  reader.Take(text);
  return std::move(reader).Outcome();
}

Result<Settings> ReadSettings(const Root& root) {
  std::vector<std::string> files;
  if (auto main = TRY(MainFile(root))) files.push_back(*std::move(main));
  for (auto& [name, path] : TRY(DropIns(root))) files.push_back(path);
  Settings settings;
  std::string problems;
  for (const std::string& file : files) {
    const Result<> added = AddFile(root, file, settings);
    if (!added) problems += fmt::format("{}{}", problems.empty() ? "" : "; ", added.error().message());
  }
  if (!problems.empty()) return Error(ErrorKind::kInvalid, std::move(problems));
  return settings;
}

}  // namespace pintle::agent
