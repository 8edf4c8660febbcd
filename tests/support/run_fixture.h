// For the tests of `plimsoll run`.
#pragma once

#include <string>

#include "json/writer.h"
#include "support/plimsoll.h"

namespace plimsoll {

// "/project/steps/N/MEMBER".
inline std::string Step(int index, const std::string& member) {
  return "/project/steps/" + std::to_string(index) + "/" + member;
}

class RunTest : public testing_support::PlimsollTest {
 protected:
  testing_support::Command RunOf(const std::string& document,
                                 testing_support::Words flags = {}) const {
    flags.insert(flags.begin(), "run");
    flags.push_back(Folder().WriteFile("request.json", document));
    return Plimsoll(std::move(flags));
  }

  // A request of these shell commands, with `more` members of its project and of itself.
  static std::string Document(const testing_support::Words& steps, const std::string& project = {},
                              const std::string& more = {}) {
    json::Writer writer;
    writer.Strings(steps);
    return R"({"protocol":2)" + more + R"(,"project":{"steps":)" + writer.Take() + project + "}}";
  }

  testing_support::Outcome RunSteps(const testing_support::Words& steps,
                                    const std::string& project = {},
                                    const std::string& more = {}) const {
    return testing_support::RunCommand(RunOf(Document(steps, project, more)));
  }
};

}  // namespace plimsoll
