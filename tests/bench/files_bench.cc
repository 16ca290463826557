// SPDX-License-Identifier: Apache-2.0

// Measures how long it takes to change and to observe many files, and compares it with the simplest system calls that
// do the same.
//
// Arguments: directories to work in, each on a file system of interest (default: /dev/shm and the current directory).
// Both ways are measured in turns, and the medians are printed, so that a busy machine does not decide the result.  The
// program returns 1 if a ratio of medians or the memory is over its budget.

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <openssl/sha.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/root.h"
#include "host/files/blob_store.h"
#include "host/files/file_changes.h"
#include "host/files/files.h"
#include "host/files/observer.h"
#include "host/files/seen_files.h"

constexpr double kMemoryBudget = 24;  // MiB

namespace pintle::host {
namespace {

namespace fs = std::filesystem;

constexpr int kChanged = 1'000;
constexpr int kLookedAt = 5'000;
constexpr int kRounds = 9;
constexpr int kBefore = -1;  // The round in which the old contents are written.
constexpr std::size_t kSize = 4096;

[[noreturn]] void Fail(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

template <typename T>
T Must(Result<T> result) {
  if (!result) Fail(result.error().message());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

std::string NameOf(int index) { return fmt::format("file-{}", index); }

// Returns contents that differ for each file and each round.
std::string ContentsOf(int index, int round) {
  std::string contents = fmt::format("{} {}\n", index, round);
  contents.resize(kSize, 'x');
  return contents;
}

double MillisecondsFor(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Budget {
  double ratio;
  bool is_known_unmet = false;  // docs/performance.md explains why the budget is not met.
};

// Prints the medians, and returns whether their ratio is acceptable.  For a comparison there is no budget.
bool PrintRow(const std::string& what, const std::vector<double>& ours, const std::vector<double>& plain,
              std::optional<Budget> budget) {
  const double ratio = Median(ours) / Median(plain);
  fmt::print("{:<44} {:>8.1f} ms {:>8.1f} ms   {:.2f}", what, Median(ours), Median(plain), ratio);
  if (budget) fmt::print(" of {:.1f}", budget->ratio);
  const bool is_over = budget && ratio > budget->ratio;
  fmt::print("{}\n", !is_over ? "" : budget->is_known_unmet ? "  over budget, as is known" : "  OVER BUDGET");
  return !is_over || budget->is_known_unmet;
}

// ---- the plain ways -------------------------------------------------------------------------------------------------

void WritePlainly(const fs::path& directory, int round) {
  const UniqueFd at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < kChanged; ++i) {
    const std::string contents = ContentsOf(i, round);
    const UniqueFd file(::openat(at.get(), NameOf(i).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (::write(file.get(), contents.data(), contents.size()) < 0) Fail("cannot write");
  }
  if (::syncfs(at.get()) != 0) Fail("cannot sync");
}

// Replaces each file by a rename, so that it is whole at every instant.  It keeps no old contents and compares nothing.
void ReplacePlainly(const fs::path& directory, int round) {
  const UniqueFd at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto beside = [](int i) { return "." + NameOf(i); };
  for (int i = 0; i < kChanged; ++i) {
    const std::string contents = ContentsOf(i, round);
    const UniqueFd file(::openat(at.get(), beside(i).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (::write(file.get(), contents.data(), contents.size()) < 0) Fail("cannot write");
  }
  if (::syncfs(at.get()) != 0) Fail("cannot sync");
  for (int i = 0; i < kChanged; ++i) {
    if (::renameat(at.get(), beside(i).c_str(), at.get(), NameOf(i).c_str()) != 0) Fail("cannot rename");
  }
  if (::fsync(at.get()) != 0) Fail("cannot sync");
}

void LookPlainly(const fs::path& directory) {
  const UniqueFd at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  char contents[2 * kSize];
  unsigned char digest[SHA256_DIGEST_LENGTH];
  for (int i = 0; i < kLookedAt; ++i) {
    const UniqueFd file(::openat(at.get(), NameOf(i).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (::fstat(file.get(), &status) != 0) Fail("cannot stat");
    const ssize_t length = ::read(file.get(), contents, sizeof contents);
    if (length < 0 || ::read(file.get(), contents, sizeof contents) != 0) Fail("cannot read");
    ::SHA256(reinterpret_cast<const unsigned char*>(contents), static_cast<std::size_t>(length), digest);
  }
}

void StatEach(const std::vector<std::string>& paths) {
  struct stat status;
  for (const std::string& path : paths) {
    if (::lstat(path.c_str(), &status) != 0) Fail("cannot stat");
  }
}

// ---- the ways of src/host -------------------------------------------------------------------------------------------

// A clock that is ahead, so that all files count as last changed long ago.
class Tomorrow final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
  WallTime Wall() const override { return std::chrono::system_clock::now() + std::chrono::hours(24); }
};

// Changes the files; keeps the old files if `seen` has their states before the change.
void ChangeDurably(const Root& root, int round, SeenFiles* seen) {
  BlobStore blobs = Must(BlobStore::Open(root, "/store"));
  std::vector<FilePut> puts;
  const auto user = ::getuid();
  const auto group = ::getgid();
  for (int i = 0; i < kChanged; ++i) {
    resource::FileEntry::State state;
    state.sha256 = Must(blobs.Add(ContentsOf(i, round)));
    state.permissions = 0644;
    state.user.id = user;
    state.group.id = group;
    puts.push_back({"/files/" + NameOf(i), std::move(state)});
  }
  std::vector<FilePut> undo;
  if (seen != nullptr) {
    Observer observer(root);
    const auto keep_expected = [&](const std::string& path) -> Result<> {
      TRY(blobs.Add(ContentsOf(std::atoi(path.c_str() + path.rfind('-') + 1), kBefore)));
      return {};
    };
    for (const FilePut& put : puts) {
      undo.push_back({put.key, Must(observer.ObserveAndKeep(put.key, blobs, put.want, *seen, keep_expected))});
    }
  }
  Must(blobs.Sync());
  FileChanges changes(root, blobs);
  for (std::size_t i = 0; i < puts.size(); ++i) {
    const auto before =
        undo.empty() ? std::nullopt : std::optional(Before{&*undo[i].want, seen->FingerprintOf(puts[i].key)});
    Must(changes.Prepare(puts[i], before));
  }
  Must(changes.Sync());
  for (const FilePut& put : puts) Must(changes.Commit(put));
  Must(changes.Sync());
}

std::vector<std::string> PathsOfOurs(int count) {
  std::vector<std::string> paths;
  for (int i = 0; i < count; ++i) paths.push_back("/files/" + NameOf(i));
  return paths;
}

void LookInFull(const Root& root) {
  Observer observer(root);
  for (int i = 0; i < kLookedAt; ++i) {
    if (!Must(observer.Observe("/files/" + NameOf(i)))) Fail("a file is missing");
  }
}

void LookAgain(const Root& root, SeenFiles& seen, const std::vector<std::string>& paths) {
  Observer observer(root);
  for (const std::string& path : paths) {
    if (!Must(observer.Observe(path, seen))) Fail("a file is missing");
  }
}

// ---- side by side ---------------------------------------------------------------------------------------------------

constexpr const char* kDirectories[] = {"files", "plain", "replaced"};

struct Place {
  explicit Place(const fs::path& above) : path(above / fmt::format("pintle-bench-{}", ::getpid())) {
    for (const char* directory : kDirectories) fs::create_directories(path / directory);
    struct statfs status;
    if (::statfs(path.c_str(), &status) != 0) Fail("cannot find out the type of the file system");
    is_tmpfs = status.f_type == TMPFS_MAGIC;
  }
  ~Place() { fs::remove_all(path); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void Empty() const {
    for (const char* directory : kDirectories) {
      fs::remove_all(path / directory);
      fs::create_directory(path / directory);
    }
    fs::remove(path / "store");
    ::sync();
  }

  fs::path path;
  bool is_tmpfs;
};

bool MeasureNew(const Place& place, const Root& root) {
  std::vector<double> ours, plain;
  for (int round = 0; round < kRounds; ++round) {
    place.Empty();
    plain.push_back(MillisecondsFor([&] { WritePlainly(place.path / "plain", round); }));
    ours.push_back(MillisecondsFor([&] { ChangeDurably(root, round, nullptr); }));
  }
  return PrintRow(fmt::format("{} files new", kChanged), ours, plain, Budget{2.0, place.is_tmpfs});
}

bool MeasureOverwritten(const Place& place, const Root& root) {
  const Tomorrow tomorrow;
  std::vector<double> ours, plain, replaced;
  for (int round = 0; round < kRounds; ++round) {
    place.Empty();
    for (const char* directory : kDirectories) WritePlainly(place.path / directory, kBefore);
    SeenFiles seen(tomorrow);
    LookAgain(root, seen, PathsOfOurs(kChanged));
    plain.push_back(MillisecondsFor([&] { WritePlainly(place.path / "plain", round); }));
    ours.push_back(MillisecondsFor([&] { ChangeDurably(root, round, &seen); }));
    replaced.push_back(MillisecondsFor([&] { ReplacePlainly(place.path / "replaced", round); }));
  }
  const bool is_good =
      PrintRow(fmt::format("{} files overwritten, the old kept", kChanged), ours, plain, Budget{2.0, true});
  return PrintRow("  for comparison: replaced by renames alone", replaced, plain, std::nullopt) && is_good;
}

bool MeasureLookingAgain(const Place& place, const Root& root) {
  const std::vector<std::string> inside = PathsOfOurs(kLookedAt);
  std::vector<std::string> outside;
  for (const std::string& path : inside) outside.push_back(place.path.string() + path);
  const Tomorrow tomorrow;
  SeenFiles seen(tomorrow);
  LookAgain(root, seen, inside);
  if (seen.size() != kLookedAt) Fail("not all files are seen");
  std::vector<double> ours, plain;
  for (int round = 0; round < kRounds; ++round) {
    plain.push_back(MillisecondsFor([&] { StatEach(outside); }));
    ours.push_back(MillisecondsFor([&] { LookAgain(root, seen, inside); }));
  }
  return PrintRow(fmt::format("{} files looked at again, none changed", kLookedAt), ours, plain, Budget{2.0});
}

bool MeasureLooking(const Place& place, const Root& root) {
  place.Empty();
  const UniqueFd at(::open((place.path / "files").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < kLookedAt; ++i) {
    const std::string contents = ContentsOf(i, 0);
    const UniqueFd file(::openat(at.get(), NameOf(i).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (::write(file.get(), contents.data(), contents.size()) < 0) Fail("cannot write");
  }
  std::vector<double> ours, plain;
  for (int round = 0; round < kRounds; ++round) {
    plain.push_back(MillisecondsFor([&] { LookPlainly(place.path / "files"); }));
    ours.push_back(MillisecondsFor([&] { LookInFull(root); }));
  }
  return PrintRow(fmt::format("{} files looked at in full", kLookedAt), ours, plain, Budget{1.5});
}

// Returns whether all budgets are met but those that are known not to be.
bool Measure(const fs::path& above) {
  const Place place(above);
  const Root root = Must(Root::Open(place.path.string()));
  fmt::print("in {}                                  ours        plain   ratio of its budget\n", above.string());
  bool is_good = true;
  for (const auto measure : {MeasureNew, MeasureOverwritten, MeasureLooking, MeasureLookingAgain}) {
    is_good = measure(place, root) && is_good;
  }
  return is_good;
}

}  // namespace
}  // namespace pintle::host

int main(int argc, char** argv) {
  std::vector<std::string> places(argv + 1, argv + argc);
  if (places.empty()) places = {"/dev/shm", "."};
  bool is_good = true;
  for (const std::string& place : places) is_good = pintle::host::Measure(place) && is_good;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) / 1024;
  const bool is_small = peak <= kMemoryBudget;
  fmt::print("peak memory {:.1f} MiB of {:.0f}{}\n", peak, kMemoryBudget, is_small ? "" : "  OVER BUDGET");
  return is_good && is_small ? 0 : 1;
}
