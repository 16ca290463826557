// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs benchmarks, and compares their times with limits.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pintle {

// The processor times in milliseconds that benchmarks may take, by the name of the benchmark.
using Limits = std::map<std::string, double>;

class LimitsReporter : public benchmark::ConsoleReporter {
 public:
  explicit LimitsReporter(Limits limits) : limits_(std::move(limits)) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    benchmark::ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const auto limit = limits_.find(run.benchmark_name());
      if (limit == limits_.end()) continue;
      const double took = 1000 * run.cpu_accumulated_time / static_cast<double>(run.iterations);
      if (took <= limit->second) continue;
      has_exceeded_ = true;
      fmt::print(stderr, "{} took {:.3f} ms of processor time; its limit is {} ms\n", limit->first, took,
                 limit->second);
    }
  }

  bool has_exceeded() const { return has_exceeded_; }

 private:
  const Limits limits_;
  bool has_exceeded_ = false;
};

// Runs all benchmarks of the program.  Returns the exit status, which is 1 if a benchmark
// has exceeded its limit.
inline int RunWithLimits(int argc, char** argv, Limits limits) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  LimitsReporter reporter(std::move(limits));
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.has_exceeded() ? 1 : 0;
}

}  // namespace pintle
