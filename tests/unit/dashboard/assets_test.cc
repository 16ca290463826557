// SPDX-License-Identifier: Apache-2.0
#include "dashboard/assets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/hex_digit.h"
#include "dashboard/cluster_state.h"

namespace pintle::dashboard {
namespace {

using Colours = std::map<std::string, std::string, std::less<>>;

// Returns the colours of the block of CSS after this text: "done-back" to "e3f4e6".
Colours ColoursAfter(std::string_view text) {
  std::string_view css = kStyle.substr(kStyle.find(text));
  css = css.substr(0, css.find('}'));
  Colours colours;
  while (css.find("--") != std::string_view::npos) {
    css.remove_prefix(css.find("--") + 2);
    colours.emplace(css.substr(0, css.find(':')), css.substr(css.find('#') + 1, 6));
  }
  return colours;
}

// The relative luminance that the Web Content Accessibility Guidelines define.
double LuminanceOf(const std::string& colour) {
  constexpr double kWeights[] = {0.2126, 0.7152, 0.0722};
  double luminance = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = (HexDigit(colour.at(2 * i)) * 16 + HexDigit(colour.at(2 * i + 1))) / 255.0;
    luminance += kWeights[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return luminance;
}

double ContrastOf(const std::string& first, const std::string& second) {
  const auto [dark, light] = std::minmax({LuminanceOf(first), LuminanceOf(second)});
  return (light + 0.05) / (dark + 0.05);
}

TEST(Style, HasReadableColoursForLightAndDarkScreens) {
  EXPECT_NEAR(ContrastOf("000000", "ffffff"), 21, 0.01);
  for (const std::string_view block : {":root {", "(prefers-color-scheme: dark)"}) {
    const Colours colours = ColoursAfter(block);
    for (const char* text : {"text", "quiet", "link"}) {
      EXPECT_GE(ContrastOf(colours.at(text), colours.at("page")), 4.5) << text;
    }
    for (const Activity activity : kAllActivities) {
      std::string name(WordFor(activity));
      std::replace(name.begin(), name.end(), ' ', '-');
      EXPECT_GE(ContrastOf(colours.at(name), colours.at(name + "-back")), 4.5) << name;
      EXPECT_NE(kStyle.find("." + name + " { color: var(--" + name + "); background: var(--" + name + "-back); }"),
                std::string_view::npos)
          << name;
    }
  }
}

}  // namespace
}  // namespace pintle::dashboard
