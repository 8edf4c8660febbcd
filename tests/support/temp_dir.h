// Owner of a temporary directory below TMPDIR.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::testing_support {

// Made with mode 0700 and removed with everything in it. Ends the test program when it cannot be
// made.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& Path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Makes the directory and its parents; its path.
  std::string MakeDirectory(std::string_view name) const;
  // Writes the file, whose folder must be there; its path.
  std::string WriteFile(std::string_view name, std::string_view text, unsigned mode = 0644) const;

 private:
  std::string path_;
};

// The whole file; fails the running test when it cannot be read.
std::string ReadWholeFile(const std::string& path);

}  // namespace plimsoll::testing_support
