// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program that a test runs, and with which it exchanges lines of text.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/c_ptr.h"
#include "base/unique_fd.h"

namespace pintle {

class Program {
 public:
  explicit Program(std::vector<std::string> words) {
    std::array<int, 2> to = Pipe();
    std::array<int, 2> from = Pipe();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int failure = ::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    input_.Reset(to[1]);
    output_.reset(::fdopen(from[0], "r"));
    if (failure != 0) throw std::runtime_error("cannot start " + words[0]);
  }
  // Closes the program's standard input, which makes it end, and waits for that.
  ~Program() { Wait(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int Wait() {
    input_.Reset();
    int status = 0;
    if (pid_ > 0) ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

  // Waits for the program's next line.
  std::string ReadLine() {
    std::string line;
    for (int c = std::getc(output_.get()); c != '\n'; c = std::getc(output_.get())) {
      if (c == EOF) throw std::runtime_error("the program ended before it printed a line");
      line += static_cast<char>(c);
    }
    return line;
  }
  // Sends an empty line to the standard input of the program.
  void WriteLine() const {
    if (::write(input_.get(), "\n", 1) != 1) throw std::runtime_error("the program does not listen");
  }

 private:
  static std::array<int, 2> Pipe() {
    std::array<int, 2> ends;
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    return ends;
  }

  pid_t pid_ = -1;
  UniqueFd input_;
  CPtr<std::FILE, std::fclose> output_;
};

}  // namespace pintle
