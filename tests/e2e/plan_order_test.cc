// The table in src/init/README.md against what `plimsoll plan` prints.

#include <fstream>
#include <map>
#include <set>

#include "base/text.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::Words;

struct Row {
  std::size_t place = 0;  // of the row in the table; kinds of one row share it
  bool repeats = false;   // marked with a star
};

// The kinds of the table's first column: "| `one`*, `other` | ...".
std::map<std::string, Row> ReadTable() {
  std::ifstream file(PLIMSOLL_SOURCE_DIR "/src/init/README.md");
  std::map<std::string, Row> rows;
  std::size_t place = 0;
  for (std::string line; std::getline(file, line); ++place) {
    if (!line.starts_with("| `")) continue;
    line.resize(line.find(" | "));
    const auto parts = Split(line, '`');
    for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
      rows[std::string(parts[i])] = {.place = place, .repeats = parts[i + 1].starts_with('*')};
    }
  }
  return rows;
}

class PlanOrder : public PlimsollTest {
 protected:
  PlanOrder() : folder_(Folder().MakeDirectory("data")) {}

  std::vector<std::string> KindsOf(Words flags) const {
    flags.insert(flags.begin(), {"plan", "--json"});
    flags.insert(flags.end(), {"--", "true"});
    const auto plan = ParseAnswer(RunCommand(Plimsoll(flags)));
    std::vector<std::string> kinds;
    for (std::uint64_t i = 0; i < ParseUint(At(plan, "/steps")).value_or(0); ++i) {
      kinds.push_back(At(plan, "/steps/" + std::to_string(i) + "/kind"));
    }
    return kinds;
  }

  // Together these have every kind of step.
  std::vector<std::vector<std::string>> Plans() const {
    return {KindsOf({}), KindsOf({"--writable-root", "-u", "4242"}),
            KindsOf({"-v", folder_ + ":/opt/new", "--quiet", "--cpu-time", "9"})};
  }

 private:
  std::string folder_;
};

TEST_F(PlanOrder, EveryKindHasItsRowAndEveryRowItsKind) {
  std::set<std::string> printed;
  for (const auto& kinds : Plans())
    printed.insert(kinds.begin(), kinds.end());
  std::set<std::string> described;
  for (const auto& [kind, row] : ReadTable())
    described.insert(kind);
  EXPECT_EQ(printed, described);
}

TEST_F(PlanOrder, IsThatOfTheTable) {
  const auto rows = ReadTable();
  for (const auto& kinds : Plans()) {
    std::size_t reached = 0;  // the lowest row so far whose kind comes once
    std::string before;
    for (const std::string& kind : kinds) {
      ASSERT_EQ(rows.count(kind), 1U) << kind;
      const Row& row = rows.at(kind);
      if (row.repeats) continue;
      EXPECT_GE(row.place, reached) << kind << " after " << before;
      reached = row.place;
      before = kind;
    }
  }
}

// What comes many times comes between others, but never before what stands above it.
TEST_F(PlanOrder, OfWhatRepeatsIsBehindTheRowsAboveIt) {
  const auto rows = ReadTable();
  for (const auto& kinds : Plans()) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!rows.at(kinds[i]).repeats) continue;
      for (std::size_t later = i + 1; later < kinds.size(); ++later) {
        const Row& row = rows.at(kinds[later]);
        EXPECT_TRUE(row.repeats || row.place >= rows.at(kinds[i]).place)
            << kinds[i] << " before " << kinds[later];
      }
    }
  }
}

TEST_F(PlanOrder, OnlyStarredKindsComeMoreThanOnce) {
  const auto rows = ReadTable();
  for (const auto& kinds : Plans()) {
    std::set<std::string> seen;
    for (const std::string& kind : kinds) {
      EXPECT_TRUE(seen.insert(kind).second || rows.at(kind).repeats) << kind;
    }
  }
}

TEST_F(PlanOrder, IsWhatExecCarriesOut) {
  const Words flags = {"-v", Workspace() + ":/opt/new", "-u", "4242", "--json"};
  Words plan = {"plan"};
  plan.insert(plan.end(), flags.begin(), flags.end());
  plan.insert(plan.end(), {"--", "sh", "-c", "exit 0"});
  EXPECT_EQ(At(ParseAnswer(RunCommand(Plimsoll(plan))), "/digest"),
            At(ParseAnswer(RunScript("exit 0", flags)), "/confinement/plan"));
}

}  // namespace
}  // namespace plimsoll
