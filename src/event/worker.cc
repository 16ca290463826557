// SPDX-License-Identifier: Apache-2.0
#include "event/worker.h"

#include "base/thread.h"
#include "event/loop.h"

namespace pintle::event {

Result<std::unique_ptr<Worker>> Worker::Create(Loop& loop) {
  std::unique_ptr<Worker> worker(new Worker(loop));
  TRY(worker->Start(), "starting a worker");
  return worker;
}

Result<> Worker::Start() {
  if (loop_.jobs() == Loop::Jobs::kInTurns) return {};
  const AllSignalsBlocked blocked;
  thread_ = TRY(StartThread([this] { RunJobs(); }));
  return {};
}

Worker::~Worker() {
  if (!thread_.joinable()) return;
  Cancel();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Worker::Cancel() {
  for (const std::unique_ptr<Job>& job : unfinished_) job->stop.request_stop();
}

void Worker::Add(std::unique_ptr<Job> job) {
  unfinished_.push_back(std::move(job));
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(unfinished_.back().get());
  }
  if (thread_.joinable()) return changed_.notify_one();
  loop_.Post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) RunNextJob();
  });
}

void Worker::FinishOldest() {
  const std::unique_ptr<Job> job = std::move(unfinished_.front());
  unfinished_.pop_front();
  job->Finish();  // This may destroy the worker.
}

void Worker::RunJobs() {
  while (Job* const job = NextJob()) {
    job->Run();
    PostEnd();
  }
}

void Worker::RunNextJob() {
  NextJob()->Run();
  PostEnd();
}

void Worker::PostEnd() {
  loop_.Post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) FinishOldest();
  });
}

Worker::Job* Worker::NextJob() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
  if (ending_) return nullptr;
  Job* const job = waiting_.front();
  waiting_.pop_front();
  return job;
}

}  // namespace pintle::event
