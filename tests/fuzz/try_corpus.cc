// SPDX-License-Identifier: Apache-2.0

// Tries every file of a fuzzer's corpus once, so that earlier findings are tried in every build.
//
// usage: corpus-NAME DIRECTORY

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(in)), {});
    std::printf("%s\n", entry.path().filename().c_str());
    std::fflush(stdout);  // If a file ends the program, its name is the last that was printed.
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    ++tried;
  }
  return tried > 0 ? 0 : 1;
}
