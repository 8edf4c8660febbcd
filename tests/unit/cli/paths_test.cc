#include "cli/paths.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace plimsoll::cli {
namespace {

// Sets the three variables, or unsets those that are null, and puts them back.
class Variables {
 public:
  Variables(const char* home, const char* data, const char* config) {
    Set(0, home);
    Set(1, data);
    Set(2, config);
  }
  ~Variables() {
    for (std::size_t i = 0; i < kNames.size(); ++i)
      Put(kNames[i], old_[i] ? old_[i]->c_str() : nullptr);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static constexpr std::array<const char*, 3> kNames = {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"};

  static void Put(const char* name, const char* value) {
    if (value != nullptr) {
      ::setenv(name, value, 1);
    } else {
      ::unsetenv(name);
    }
  }
  void Set(std::size_t which, const char* value) {
    if (const char* before = ::getenv(kNames[which])) old_[which] = before;
    Put(kNames[which], value);
  }

  std::array<std::optional<std::string>, 3> old_;
};

TEST(StorePath, TakesAGivenPathAndMakesItAbsolute) {
  EXPECT_EQ(*StorePath("/given"), "/given");
  std::array<char, PATH_MAX> current = {};
  ASSERT_NE(::getcwd(current.data(), current.size()), nullptr);
  EXPECT_EQ(*StorePath("given"), std::string(current.data()) + "/given");
}

TEST(StorePath, FollowsTheBaseDirectories) {
  {
    const Variables variables("/home/x", "/data", nullptr);
    EXPECT_EQ(*StorePath(""), "/data/plimsoll");
  }
  {
    const Variables variables("/home/x", nullptr, nullptr);
    EXPECT_EQ(*StorePath(""), "/home/x/.local/share/plimsoll");
  }
  const Variables variables("/home/x", "relative", nullptr);
  EXPECT_EQ(*StorePath(""), "/home/x/.local/share/plimsoll");
}

TEST(StorePath, WithoutAnyBaseDirectorySaysWhatToSet) {
  const Variables variables("", nullptr, nullptr);
  const auto path = StorePath("");
  ASSERT_FALSE(path.has_value());
  EXPECT_EQ(path.error().what, "no place for the image store: HOME and XDG_DATA_HOME are not set");
  EXPECT_EQ(path.error().hint, "set HOME, or name a folder with --store");
}

TEST(ConfigPath, FollowsTheBaseDirectories) {
  {
    const Variables variables("/home/x", nullptr, "/config");
    EXPECT_EQ(ConfigPath(), "/config/plimsoll");
  }
  {
    const Variables variables("/home/x", nullptr, nullptr);
    EXPECT_EQ(ConfigPath(), "/home/x/.config/plimsoll");
  }
  const Variables variables(nullptr, nullptr, "relative");
  EXPECT_EQ(ConfigPath(), "");
}

}  // namespace
}  // namespace plimsoll::cli
