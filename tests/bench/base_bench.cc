// SPDX-License-Identifier: Apache-2.0

// Compares the cost of functions of src/base with the cost of the same work done by plain system or library calls.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/digest.h"
#include "base/root.h"

namespace pintle {
namespace {

constexpr int kFiles = 200;
const std::string kContents(4096, 'x');

std::string TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "pintle-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

std::string NameOf(int index) { return fmt::format("file-{}", index); }

// Writes files one by one; each is durable when its write returns.
void WriteFilesDurably(benchmark::State& state) {
  for (auto _ : state) {
    const std::string directory = TemporaryDirectory();
    const auto root = Root::Open(directory);
    for (int i = 0; i < kFiles; ++i) {
      if (!root->WriteFile(NameOf(i), kContents)) state.SkipWithError("cannot write");
    }
    state.PauseTiming();
    std::filesystem::remove_all(directory);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kFiles);
}
BENCHMARK(WriteFilesDurably)->Unit(benchmark::kMillisecond)->UseRealTime();

// Writes the files plainly and syncs the file system once at the end, which is the least that durable files cost.
void WriteFilesPlainlyAndSyncOnce(benchmark::State& state) {
  for (auto _ : state) {
    const std::string directory = TemporaryDirectory();
    const int directory_fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < kFiles; ++i) {
      const int fd = ::openat(directory_fd, NameOf(i).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
      if (::write(fd, kContents.data(), kContents.size()) < 0) state.SkipWithError("cannot write");
      ::close(fd);
    }
    ::syncfs(directory_fd);
    ::close(directory_fd);
    state.PauseTiming();
    std::filesystem::remove_all(directory);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kFiles);
}
BENCHMARK(WriteFilesPlainlyAndSyncOnce)->Unit(benchmark::kMillisecond)->UseRealTime();

void Sha256Of(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Sha256(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Sha256Of)->Arg(64)->Arg(1 << 20);

void Sha256OfByTheLibraryAlone(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  unsigned char digest[SHA256_DIGEST_LENGTH];
  for (auto _ : state) {
    ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
    benchmark::DoNotOptimize(digest);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Sha256OfByTheLibraryAlone)->Arg(64)->Arg(1 << 20);

}  // namespace
}  // namespace pintle

BENCHMARK_MAIN();
