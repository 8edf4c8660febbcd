// What a system call costs: bare, behind a filter, or inside a guest.
//
// Usage: syscall_cost [--filter FILE] [Google Benchmark's flags]
// With --filter the program loads that filter first. For scripts/bench.

#include <benchmark/benchmark.h>
#include <err.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace {

void LoadFilter(const char* path) {
  static std::array<sock_filter, BPF_MAXINSNS> filter;
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = fd < 0 ? -1 : ::read(fd, filter.data(), sizeof filter);
  if (bytes < 0) err(125, "%s", path);
  (void)::close(fd);
  const sock_fprog program = {
      .len = static_cast<unsigned short>(static_cast<std::size_t>(bytes) / sizeof(sock_filter)),
      .filter = filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    err(125, "seccomp");
  }
}

void GetPid(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(::syscall(SYS_getppid));
}

void Read(benchmark::State& state) {
  const int fd = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  char byte = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(::read(fd, &byte, 1));
  (void)::close(fd);
}

void OpenAndClose(benchmark::State& state) {
  for (auto _ : state)
    (void)::close(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

BENCHMARK(GetPid);
BENCHMARK(Read);
BENCHMARK(OpenAndClose);

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--filter") == 0) {
    LoadFilter(argv[2]);
    argv[2] = argv[0];
    argv += 2;
    argc -= 2;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
