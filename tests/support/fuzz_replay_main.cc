// A main for a fuzz target without libFuzzer: gives it every file of the folders and files named.
//
// So GCC builds and ordinary test runs check the corpus too. Fails when there is nothing to replay,
// because an empty corpus would test nothing in silence.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool Replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    (void)std::fprintf(stderr, "cannot read '%s'\n", path.c_str());
    return false;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  // A crash kills the program at once, so the name comes first.
  (void)std::fprintf(stderr, "%s (%zu bytes)\n", path.c_str(), bytes.size());
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int replayed = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
        if (!entry.is_regular_file()) continue;
        if (!Replay(entry.path())) return 1;
        ++replayed;
      }
    } else {
      if (!Replay(argv[i])) return 1;
      ++replayed;
    }
  }
  if (replayed == 0) {
    (void)std::fprintf(stderr, "nothing to replay: the corpus folder is missing or empty\n");
    return 1;
  }
  return 0;
}
