#include "run/artifacts.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <random>

#include "sys/file.h"

namespace plimsoll::run {
namespace {

std::string Part(std::uint32_t artifact, const std::string& content, std::uint32_t error = 0) {
  const init::ArtifactPart part = {artifact, static_cast<std::uint32_t>(content.size()), error};
  return std::string(reinterpret_cast<const char*>(&part), sizeof part) + content;
}

std::string End(std::uint32_t artifact, int error = 0) {
  return Part(artifact, {}, static_cast<std::uint32_t>(error));
}

// What comes of these bytes, written `step` at a time, for artifacts named a, b and c.
result::RunResult Take(const std::string& bytes, std::size_t step = 1U << 15U,
                       ArtifactLimits limits = {.bytes = 100, .together = 150}) {
  sys::Pipe pipe = *sys::MakePipe();
  ArtifactIntake intake(std::move(pipe.read), {"a", "b", "c"}, limits);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    EXPECT_TRUE(sys::WriteAll(pipe.write.Get(), bytes.substr(at, step), "pipe").has_value());
    intake.Read();
  }
  pipe.write.Reset();
  result::RunResult result;
  intake.Finish(result);
  return result;
}

// "a=content b:reason", those that are there first.
std::string Show(const result::RunResult& result) {
  std::string text;
  for (const auto& artifact : result.artifacts)
    text += artifact.path + "=" + artifact.content + " ";
  for (const auto& missing : result.missing_artifacts)
    text += missing.path + ":" + missing.reason + (missing.too_large ? "! " : " ");
  return text;
}

constexpr const char* kNeverRead = "the sandbox ended before it was read";

TEST(ArtifactIntake, PutsPartsTogetherHoweverTheyCome) {
  const std::string bytes = Part(0, "on") + Part(0, "e") + End(0) + End(1) + Part(2, "x") + End(2);
  for (const std::size_t step : {1U, 2U, 3U, 5U, 13U, 100U})
    EXPECT_EQ(Show(Take(bytes, step)), "a=one b= c=x ");
}

TEST(ArtifactIntake, SaysWhyOneIsNotThere) {
  EXPECT_EQ(Show(Take(End(0, ENOENT) + End(1, EMEDIUMTYPE) + End(2, EFBIG))),
            "a:ENOENT (No such file or directory) b:it is no regular file "
            "c:it is larger than 100 bytes! ");
  EXPECT_EQ(Show(Take(Part(0, "x") + End(0, ELOOP) + Part(1, "y"))),
            "a:it is a symbolic link, or lies behind one b:" + std::string(kNeverRead) +
                " c:" + kNeverRead + " ");
}

TEST(ArtifactIntake, KeepsToTheLimitsWhateverComes) {
  const std::string hundred(100, 'x');
  EXPECT_EQ(Show(Take(Part(0, hundred + "y") + End(0) + Part(1, hundred) + End(1) +
                      Part(2, hundred.substr(50) + "y") + End(2))),
            "b=" + hundred +
                " a:the artifacts are larger than 150 bytes together! "
                "c:the artifacts are larger than 150 bytes together! ");
}

TEST(ArtifactIntake, MakesRoomAgainWhenOneTurnsOutTooLarge) {
  EXPECT_EQ(Take(Part(0, std::string(90, 'x')) + Part(0, std::string(90, 'x')) + End(0) +
                 Part(1, std::string(100, 'y')) + End(1) + End(2))
                .artifacts.size(),
            2U);
}

TEST(ArtifactIntake, TakesNothingBehindWhatMakesNoSense) {
  const std::string good = Part(0, "x") + End(0);
  const std::string later = " b:" + std::string(kNeverRead) + " c:" + kNeverRead + " ";
  const std::string too_long = Part(1, std::string(init::kMaxPartBytes + 1, 'x'));
  for (const std::string& bad : {Part(0, "again"), End(0), End(2), Part(7, "x"), too_long}) {
    EXPECT_EQ(Show(Take(good + bad + End(1) + End(2))), "a=x" + later);
  }
  EXPECT_EQ(Show(Take(good + End(1) + End(2) + Part(3, "x"))), "a=x b= c= ");
}

TEST(ArtifactIntake, SurvivesAnyBytes) {
  std::mt19937 random(1);  // the same bytes each time
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = Part(0, "abc") + End(0) + Part(1, "d") + End(1) + End(2);
    for (int flips = round % 5; flips >= 0; --flips)
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    const auto result = Take(bytes, 1 + random() % 20);
    EXPECT_EQ(result.artifacts.size() + result.missing_artifacts.size(), 3U);
  }
}

}  // namespace
}  // namespace plimsoll::run
