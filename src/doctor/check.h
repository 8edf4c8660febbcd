// The doctor's judgement: findings become checks, each with an answer, a reason and a cure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/findings.h"

namespace plimsoll::doctor {

// kWeaker: a run works, but something that plimsoll would use is not to be had here.
enum class Answer { kYes, kWeaker, kNo };

struct Check {
  std::string name;  // stable, "kebab-case"
  Answer answer = Answer::kYes;
  std::string found = {};               // a sentence without its full stop
  std::vector<std::string> cures = {};  // the narrowest first; each a command or a file's lines
};

// Every check, always the same ones in the same order; the real run is the last.
std::vector<Check> Judge(const Findings& findings);

// True when a run would work: no check says "no".
bool Works(const std::vector<Check>& checks);

// "yes", "weaker", "no".
std::string_view AnswerName(Answer answer);

}  // namespace plimsoll::doctor
