#include "doctor/report.h"

#include <algorithm>

#include "base/text.h"
#include "json/writer.h"

namespace plimsoll::doctor {
namespace {

constexpr std::size_t kAnswerWidth = 8;  // the longest answer and two blanks

std::string Padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.resize(std::max(width, out.size()), ' ');
  return out;
}

std::string_view Colour(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return "\033[32m";
    case Answer::kWeaker:
      return "\033[33m";
    case Answer::kNo:
      return "\033[31m";
  }
  return "";
}

// The cures, each line of them below the column of what was found.
void AddCures(const Check& check, std::size_t indent, std::string& out) {
  for (std::size_t i = 0; i < check.cures.size(); ++i) {
    out += std::string(indent, ' ') + (i == 0 ? "cure:" : "or:") + "\n";
    for (const std::string_view line : Split(check.cures[i], '\n')) {
      out += std::string(indent + 2, ' ') + std::string(line) + "\n";
    }
  }
}

}  // namespace

std::string ReportText(const std::vector<Check>& checks, bool colour) {
  std::size_t name_width = 0;
  for (const Check& check : checks)
    name_width = std::max(name_width, check.name.size() + 2);
  std::string out;
  for (const Check& check : checks) {
    const std::string answer = Padded(AnswerName(check.answer), kAnswerWidth);
    out += colour ? std::string(Colour(check.answer)) + answer + "\033[0m" : answer;
    out += Padded(check.name, name_width) + check.found + "\n";
    AddCures(check, kAnswerWidth + name_width, out);
  }
  return out + (Works(checks) ? "A run works on this host.\n"
                              : "A run does not work on this host; see what says 'no'.\n");
}

std::string ReportJson(const std::vector<Check>& checks) {
  json::Writer writer(json::Writer::Style::kIndented);
  writer.BeginObject();
  writer.Member("works", Works(checks));
  writer.Key("checks").BeginArray();
  for (const Check& check : checks) {
    writer.BeginObject();
    writer.Member("name", check.name);
    writer.Member("ok", AnswerName(check.answer));
    writer.Member("found", check.found);
    writer.Key("cures").Strings(check.cures);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  return writer.Take() + "\n";
}

}  // namespace plimsoll::doctor
