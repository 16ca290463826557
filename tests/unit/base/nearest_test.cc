// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace pintle {
namespace {

constexpr std::array<std::string_view, 6> kVerbs = {"apply", "diff", "render", "resume", "status", "validate"};
constexpr std::array<std::string_view, 4> kOptionNames = {"-o", "--kubeconfig", "--pool", "--policy"};

TEST(Nearest, FindsAWordWithFewMistakes) {
  EXPECT_EQ(Nearest("aply", kVerbs), "apply");
  EXPECT_EQ(Nearest("rendr", kVerbs), "render");
  EXPECT_EQ(Nearest("statsu", kVerbs), "status");
  EXPECT_EQ(Nearest("vallidat", kVerbs), "validate");
  EXPECT_EQ(Nearest("dfif", kVerbs), "diff");
}

TEST(Nearest, IgnoresDashesOfAnOption) {
  EXPECT_EQ(Nearest("--kubecofnig", kOptionNames), "--kubeconfig");
  EXPECT_EQ(Nearest("-pool", kOptionNames), "--pool");
  EXPECT_EQ(Nearest("--poll", kOptionNames), "--pool");
}

TEST(Nearest, FindsAWordByItsBeginning) {
  EXPECT_EQ(Nearest("val", kVerbs), "validate");
  EXPECT_EQ(Nearest("re", kVerbs), "render");
  EXPECT_EQ(Nearest("--kube", kOptionNames), "--kubeconfig");
}

TEST(Nearest, DoesNotGuessADistantWord) {
  for (const std::string_view word : {"", "-", "--", "x", "-x", "list", "applesauce", "--bogus"}) {
    EXPECT_EQ(Nearest(word, kVerbs), "") << word;
    EXPECT_EQ(Nearest(word, kOptionNames), "") << word;
  }
  EXPECT_EQ(Nearest(std::string(1'000'000, 'a'), kVerbs), "");
}

TEST(SuggestionFor, IsTheEndOfAMessage) {
  EXPECT_EQ(SuggestionFor("rendr", kVerbs), "; did you mean render?");
  EXPECT_EQ(SuggestionFor("applesauce", kVerbs), "");
}

}  // namespace
}  // namespace pintle
