#include "init/plan_view.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "plan/plan_writer.h"

namespace plimsoll::init {
namespace {

std::string SmallPlan() {
  plan::PlanWriter writer;
  writer.Add({.phase = Phase::kLaunch, .kind = StepKind::kNamespaces, .number = {1}});
  writer.Add({.phase = Phase::kInit,
              .kind = StepKind::kWriteFile,
              .text = {"passwd"},
              .blob = "a line\n",
              .number = {0644}});
  writer.Add({.phase = Phase::kGuest, .kind = StepKind::kExec, .text = {"/bin"}, .blob = "sh"});
  return writer.Finish();
}

// On the heap and of the very size, so that a sanitizer sees a look past the end.
bool Parses(const std::string& bytes) {
  const auto copy = std::make_unique<unsigned char[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  PlanView view;
  return view.Parse(copy.get(), bytes.size());
}

// The plan with its header or its step `index` changed.
template <typename Change>
std::string WithHeader(Change change) {
  std::string bytes = SmallPlan();
  Header header = {};
  std::memcpy(&header, bytes.data(), sizeof header);
  change(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}
template <typename Change>
std::string WithStep(std::size_t index, Change change) {
  std::string bytes = SmallPlan();
  Step step = {};
  char* place = bytes.data() + sizeof(Header) + index * sizeof step;
  std::memcpy(&step, place, sizeof step);
  change(step);
  std::memcpy(place, &step, sizeof step);
  return bytes;
}

std::uint32_t PoolSize() {
  Header header = {};
  std::memcpy(&header, SmallPlan().data(), sizeof header);
  return header.pool_size;
}

TEST(PlanView, ReadsWhatWasWritten) {
  const std::string bytes = SmallPlan();
  PlanView view;
  ASSERT_TRUE(view.Parse(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
  ASSERT_EQ(view.StepCount(), 3U);
  const Step& step = view.At(1);
  EXPECT_EQ(step.kind, StepKind::kWriteFile);
  EXPECT_STREQ(view.Text(step, 0), "passwd");
  EXPECT_STREQ(view.Text(step, 1), "");
  const Blob blob = view.BlobOf(step);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(blob.data), blob.size), "a line\n");
}

TEST(PlanView, RefusesEveryShorterPlan) {
  const std::string bytes = SmallPlan();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Parses(bytes.substr(0, size))) << size;
  }
}

TEST(PlanView, RefusesALongerPlan) {
  EXPECT_FALSE(Parses(SmallPlan() + std::string(1, '\0')));
  EXPECT_FALSE(Parses(SmallPlan() + SmallPlan()));
}

TEST(PlanView, RefusesAPlanAboveTheLimit) {
  std::string bytes = SmallPlan();
  bytes.resize(kMaxPlanBytes + 1);
  Header header = {};
  std::memcpy(&header, bytes.data(), sizeof header);
  header.pool_size += kMaxPlanBytes + 1 - header.total_size;
  header.total_size = kMaxPlanBytes + 1;
  std::memcpy(bytes.data(), &header, sizeof header);
  EXPECT_FALSE(Parses(bytes));
}

TEST(PlanView, RefusesAnotherMagicOrVersion) {
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.magic ^= 1; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.version = kVersion + 1; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.version = 0; })));
}

TEST(PlanView, RefusesATableOrPoolThatDoesNotFit) {
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.total_size -= 1; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.step_count = 0; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.step_count += 1; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.step_count = UINT32_MAX; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.steps_offset += 8; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.pool_offset -= 64; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.pool_size = 0; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.pool_size -= 1; })));
  EXPECT_FALSE(Parses(WithHeader([](Header& header) { header.pool_size = UINT32_MAX; })));
}

TEST(PlanView, RefusesAPoolThatDoesNotBeginAndEndWithNul) {
  std::string unterminated = SmallPlan();
  unterminated.back() = 'x';
  EXPECT_FALSE(Parses(unterminated));
  std::string headless = SmallPlan();
  headless[headless.size() - PoolSize()] = 'x';
  EXPECT_FALSE(Parses(headless));
}

TEST(PlanView, RefusesTextsAndBlobsOutsideThePool) {
  const std::uint32_t size = PoolSize();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(Parses(WithStep(1, [&](Step& step) { step.text[i] = size; }))) << i;
    EXPECT_FALSE(Parses(WithStep(1, [&](Step& step) { step.text[i] = UINT32_MAX; }))) << i;
  }
  EXPECT_TRUE(Parses(WithStep(1, [&](Step& step) { step.text[0] = size - 1; })));
  EXPECT_FALSE(Parses(WithStep(1, [&](Step& step) { step.blob = size + 1; })));
  EXPECT_FALSE(Parses(WithStep(1, [&](Step& step) { step.blob_size = size; })));
  EXPECT_FALSE(Parses(WithStep(1, [&](Step& step) { step.blob_size = UINT32_MAX; })));
}

TEST(PlanView, RefusesPhasesThatGoBackOrDoNotExist) {
  EXPECT_FALSE(Parses(WithStep(2, [](Step& step) { step.phase = Phase::kLaunch; })));
  EXPECT_FALSE(Parses(WithStep(0, [](Step& step) { step.phase = Phase::kGuest; })));
  EXPECT_FALSE(Parses(WithStep(2, [](Step& step) { step.phase = static_cast<Phase>(4); })));
}

TEST(PlanView, RefusesReservedBits) {
  EXPECT_FALSE(Parses(WithStep(0, [](Step& step) { step.reserved = 1; })));
}

}  // namespace
}  // namespace plimsoll::init
