// SPDX-License-Identifier: Apache-2.0

// Writes many kubelet.conf files, each on a line as {"settings": ..., "yaml": ...}, for an independent reader to check.

#include <array>
#include <cstddef>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "generated/kubelet_configuration.h"
#include "json/parse.h"

namespace {

using pintle::json::Value;

// These texts have a meaning of their own in YAML unless they are quoted, or are hard to write.  The Operator's writer
// does not quote "<<" and "=", and so neither do we.  They are left out here, because YAML gives both a meaning.
constexpr std::array<std::string_view, 53> kPieces = {"yes",
                                                      "no",
                                                      "on",
                                                      "true",
                                                      "null",
                                                      "~",
                                                      "1",
                                                      "0x1F",
                                                      "0o7",
                                                      "017",
                                                      "1_000",
                                                      "1:30",
                                                      ".5",
                                                      "1e3",
                                                      ".inf",
                                                      ".NaN",
                                                      "2026-11-24",
                                                      "-",
                                                      "- ",
                                                      ": ",
                                                      ":",
                                                      "? ",
                                                      "#",
                                                      " #",
                                                      "&a",
                                                      "*a",
                                                      "!t",
                                                      "|",
                                                      ">",
                                                      "%",
                                                      "@",
                                                      "`",
                                                      "'",
                                                      "\"",
                                                      "\\",
                                                      ",",
                                                      "[",
                                                      "]",
                                                      "{",
                                                      "}",
                                                      "\n",
                                                      "\n\n",
                                                      "\r",
                                                      "\t",
                                                      " ",
                                                      "  ",
                                                      "a",
                                                      "Z",
                                                      "---",
                                                      "...",
                                                      "\x01",
                                                      "\xC3\xA4",
                                                      "\xF0\x9F\x98\x80"};

class Texts {
 public:
  std::string Next() {
    std::string text;
    for (std::size_t pieces = random_() % 4; pieces > 0; --pieces) text += kPieces[random_() % kPieces.size()];
    return text;
  }
  std::string NextKey() { return "k" + Next(); }
  std::size_t Below(std::size_t end) { return random_() % end; }

 private:
  std::mt19937 random_{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same files in each run.
};

Value Settings(Texts& texts) {
  auto eviction = Value::object();
  auto gates = Value::object();
  auto header = Value::object();
  auto sysctls = Value::array();
  for (int i = 0; i < 3; ++i) {
    eviction[texts.Next()] = texts.Next();
    gates[texts.Next()] = texts.Below(2) == 0;
    header[texts.NextKey()] = Value::array({texts.Next(), texts.Next()});
    sysctls.push_back(texts.Next());
  }
  auto settings = Value::object();
  settings["evictionHard"] = eviction;
  settings["featureGates"] = gates;
  settings["staticPodURLHeader"] = header;
  settings["allowedUnsafeSysctls"] = sysctls;
  settings["clusterDomain"] = "d" + texts.Next();
  settings["reservedSystemCPUs"] = "c" + texts.Next();
  settings["maxPods"] = texts.Below(500) + 1;
  return settings;
}

}  // namespace

int main() {
  constexpr int kFiles = 3000;
  Texts texts;
  for (int i = 0; i < kFiles; ++i) {
    const Value settings = Settings(texts);
    const auto config = pintle::generated::ReadKubeletConfiguration(settings);
    if (!config) {
      std::fputs((config.error().message() + "\n").c_str(), stderr);
      return 1;
    }
    const auto text = pintle::generated::KubeletConfText(*config);
    if (!text) {
      std::fputs((text.error().message() + "\n").c_str(), stderr);
      return 1;
    }
    const Value line = {{"settings", settings}, {"yaml", *text}};
    std::puts(pintle::json::ToText(line).c_str());
  }
  return 0;
}
