// SPDX-License-Identifier: Apache-2.0
#pragma once

// The vectors under tests/vectors/data: inputs and the Machine Config Operator's answers to them, as files.
//
// Each kind is a directory, and each case is a directory in it.  A runner makes a test of each case:
//
//     class Render : public testing::TestWithParam<std::string> {};
//     TEST_P(Render, Agrees) { const Case c("render", GetParam()); ... }
//     INSTANTIATE_TEST_SUITE_P(Vectors, Render, testing::ValuesIn(CaseNames("render")), NameOf);

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pintle::vectors {

// VECTORS_DIRECTORY comes from the build.
inline std::filesystem::path DataDirectory() { return VECTORS_DIRECTORY; }

inline std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> NamesIn(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<std::string> CaseNames(const std::string& kind) { return NamesIn(DataDirectory() / kind); }

// The files of one case.
class Case {
 public:
  Case(const std::string& kind, const std::string& name) : directory_(DataDirectory() / kind / name) {}

  std::filesystem::path Path(const std::string& file) const { return directory_ / file; }
  bool Has(const std::string& file) const { return std::filesystem::exists(Path(file)); }
  std::string Text(const std::string& file) const { return ReadText(Path(file)); }
  std::optional<std::string> TextIfThere(const std::string& file) const {
    if (!Has(file)) return std::nullopt;
    return Text(file);
  }

 private:
  std::filesystem::path directory_;
};

// GoogleTest allows letters, digits and underscores in the name of a test.
inline std::string NameOf(const testing::TestParamInfo<std::string>& case_name) {
  std::string name = case_name.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace pintle::vectors
