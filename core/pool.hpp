#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace pursuit {

// Threads that help if they are free. A job is a number of parts; the caller works through them itself, and threads
// that are awake take some. The caller waits only for parts that have been begun: on a machine whose other cores are
// busy a job costs what it costs on one thread, where an OpenMP region waits until every member of the team has been
// scheduled (measured: 3 times as long with one of two cores taken). Which thread works on a part changes no result.
// What a part throws the caller gets; parts that have not been begun by then are left out.
class Pool {
public:
  static Pool& shared() {
    static Pool* pool = new Pool; // never destroyed: its threads may outlive static objects
    return *pool;
  }

  template <class Body>
  void run(int parts, int helpers, Body& body) {
    auto job = std::make_shared<Job>();
    job->parts = parts;
    job->body = &body;
    job->call = [](void* b, int t) { (*static_cast<Body*>(b))(t); };
    {
      std::lock_guard<std::mutex> guard(lock_);
      grow(helpers);
      jobs_.push_back(job);
    }
    wake_.notify_all();
    job->work();
    job->wait();
    {
      std::lock_guard<std::mutex> guard(lock_);
      std::erase(jobs_, job);
    }
    if (job->pending_exception) std::rethrow_exception(job->pending_exception);
  }

private:
  struct Job {
    int parts = 0;
    void* body = nullptr;
    void (*call)(void*, int) = nullptr;
    std::atomic<int> next{0}, done{0};
    std::atomic<bool> failed{false};
    std::exception_ptr pending_exception; // written by the thread that sets `failed`, read when all parts are done
    bool open() const { return next.load(std::memory_order_relaxed) < parts; }
    void work() {
      for (int t; (t = next.fetch_add(1, std::memory_order_relaxed)) < parts;) {
        try {
          if (!failed.load(std::memory_order_relaxed)) call(body, t);
        } catch (...) {
          if (!failed.exchange(true)) pending_exception = std::current_exception();
        }
        if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == parts) done.notify_one();
      }
    }
    // Until the parts that others have begun are done: awake for as long as waking up would take, then asleep.
    void wait() {
      const auto enough = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
      for (int seen; (seen = done.load(std::memory_order_acquire)) < parts;) {
        if (std::chrono::steady_clock::now() < enough)
          std::this_thread::yield();
        else
          done.wait(seen, std::memory_order_acquire);
      }
    }
  };

  // More threads, as far as the system grants them.
  void grow(int helpers) {
    try {
      for (; size_ < helpers; ++size_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
    }
  }

  void serve() {
    for (;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock<std::mutex> guard(lock_);
        wake_.wait(guard, [&] { return (job = find()) != nullptr; });
      }
      job->work();
    }
  }

  std::shared_ptr<Job> find() const {
    for (const auto& job : jobs_)
      if (job->open()) return job;
    return nullptr;
  }

  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;
  int size_ = 0;
};

} // namespace pursuit
