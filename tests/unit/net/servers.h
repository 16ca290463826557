// SPDX-License-Identifier: Apache-2.0
#pragma once

// Servers for tests of the HTTP client, and their certificates.

#include <string>
#include <vector>

#include "net/tls_settings.h"
#include "net/url.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/net/program.h"

namespace pintle::net {

inline const std::string kPython = "/usr/bin/python3";

// The certificates are made once, since that takes a while.
class Certificates {
 public:
  static const Certificates& Get() {
    static const Certificates certificates;
    return certificates;
  }

  std::string Path(const std::string& name) const { return directory_ / name; }
  std::string Text(const std::string& name) const { return directory_.Read(name); }
  ClientCertificate Client(const std::string& name) const {
    return {.certificate = PemFile{Path(name + ".crt")}, .key = PemFile{Path(name + ".key")}};
  }

 private:
  Certificates() {
    Program maker({kPython, NET_TESTS_DIR "/certificates.py", directory_.path()});
    if (maker.Wait() != 0) throw std::runtime_error("making certificates failed");
  }

  TemporaryDirectory directory_;
};

// Runs tests/unit/net/tls_server.py, which documents its arguments.
class Server {
 public:
  explicit Server(const std::vector<std::string>& arguments = {})
      : is_https_(!arguments.empty() && arguments[0] == "--tls"),
        program_(Words(arguments)),
        port_(program_.ReadLine()) {}

  static std::vector<std::string> Tls(const std::string& name, const std::vector<std::string>& more = {}) {
    const Certificates& certificates = Certificates::Get();
    std::vector<std::string> arguments = {"--tls", certificates.Path(name + ".crt"), certificates.Path(name + ".key")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::string Name() const { return "127.0.0.1:" + port_; }
  std::string UrlText(const std::string& path, const std::string& host = "127.0.0.1") const {
    return (is_https_ ? "https://" : "http://") + host + ":" + port_ + path;
  }
  Url At(const std::string& path, const std::string& host = "127.0.0.1") const {
    return ValueOf(Url::Parse(UrlText(path, host)));
  }
  // Lets the server go on with a request that waits for this.
  void GoAhead() const { program_.WriteLine(); }
  std::string CountConnections() {
    program_.WriteLine();
    return program_.ReadLine();
  }

 private:
  static std::vector<std::string> Words(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {kPython, "-I", "-W", "ignore", NET_TESTS_DIR "/tls_server.py"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }

  bool is_https_;
  Program program_;
  std::string port_;
};

}  // namespace pintle::net
