// SPDX-License-Identifier: Apache-2.0

// The cluster's companion, `pintle-controller`.

#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "controller/serve.h"
#include "controller/start.h"
#include "controller/token.h"

namespace pintle::controller {
namespace {

constexpr int kWrongUsage = 2;
constexpr std::string_view kUsage =
    "usage: pintle-controller start [OPTION...]   render, roll out, drain and serve, in a cluster\n"
    "       pintle-controller serve [OPTION...]   serve Ignition from files, without a cluster\n"
    "       pintle-controller token [OPTION...]   let a new machine be served\n"
    "       pintle-controller --version\n"
    "pintle-controller(8) has the options.\n";

int Main(const std::vector<std::string_view>& words) {
  const std::string_view verb = words.empty() ? "" : words[0];
  if (verb == "start") return Start({words.begin() + 1, words.end()});
  if (verb == "serve") return Serve({words.begin() + 1, words.end()});
  if (verb == "token") return Token({words.begin() + 1, words.end()});
  if (verb == "--version" || verb == "version") {
    fmt::print("pintle-controller {}\n", kVersion);
    return 0;
  }
  const bool is_asked_for = verb == "--help";
  fmt::print(is_asked_for ? stdout : stderr, "{}", kUsage);
  return is_asked_for ? 0 : kWrongUsage;
}

}  // namespace
}  // namespace pintle::controller

int main(int argc, char** argv) {
  // A write beyond the limit on the size of files is an error like others.
  std::signal(SIGXFSZ, SIG_IGN);
  return pintle::controller::Main({argv + 1, argv + argc});
}
