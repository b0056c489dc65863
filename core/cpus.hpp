#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#if defined(__linux__)
#include <sched.h>
#endif

namespace pursuit {

// The CPUs that a control group's quota is worth, rounded up; 0 where there is none. Version 2 has "quota period" in
// cpu.max of the group and of all that contain it, version 1 two files; in a container the group is the root itself.
inline int quota_cpus(const std::string& root, std::string group) {
  int least = 0;
  auto limit = [&](double quota, double period) {
    const int n = quota > 0.0 && period > 0.0 ? static_cast<int>(std::ceil(quota / period)) : 0;
    if (n > 0) least = least > 0 ? std::min(least, n) : n;
  };
  auto number = [](const std::string& path) {
    double value = 0.0;
    std::ifstream(path) >> value;
    return value;
  };
  for (;; group.erase(group.find_last_of('/'))) {
    double quota = 0.0, period = 0.0;
    if (std::ifstream(root + group + "/cpu.max") >> quota >> period) limit(quota, period); // "max" is no number
    for (const char* controller : {"/cpu", "/cpu,cpuacct"}) {
      const std::string at = root + controller + group;
      limit(number(at + "/cpu.cfs_quota_us"), number(at + "/cpu.cfs_period_us"));
    }
    if (group.find('/') == std::string::npos) return least;
  }
}

// Where this process is among the control groups, "" for the root.
inline std::string control_group(const char* path) {
  std::ifstream file(path);
  std::string found;
  for (std::string line; std::getline(file, line);) { // number:controllers:group
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names == ",," || names.find(",cpu,") != std::string::npos) found = line.substr(second + 1);
  }
  return found == "/" ? "" : found;
}

// OMP_NUM_THREADS (the first of its numbers) or else the machine's cores, as far as this process may use them.
inline int default_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  int n = wanted ? std::atoi(wanted) : 0;
  if (n <= 0) n = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = std::min(n, std::max(1, CPU_COUNT(&set)));
  const int quota = quota_cpus("/sys/fs/cgroup", control_group("/proc/self/cgroup"));
  if (quota > 0) n = std::min(n, quota);
#endif
  return std::max(1, n);
}

} // namespace pursuit
