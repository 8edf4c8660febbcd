#include "cli/flags.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/text.h"

namespace plimsoll::cli {
namespace {

bool TakesValue(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// What users of container engines type, and what stands in its place here.
struct Habit {
  std::string_view flag;
  std::string_view hint;
};
constexpr std::array<Habit, 4> kHabits = {
    {{"-t", "a terminal for the guest is not supported yet; -i alone passes standard input on"},
     {"--tty", "a terminal for the guest is not supported yet; -i alone passes standard input on"},
     {"--rm", "leave it out: nothing of a run stays"},
     {"--mount", "-v SRC:DST[:ro|rw] makes a bind mount"}}};

std::string SuggestFlag(const CLI::App& app, const std::string& word) {
  for (const Habit& habit : kHabits) {
    if (word == habit.flag) return std::string(habit.hint) + ".";
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? std::string() : "did you mean '" + std::string(nearest) + "'?";
}

// How many words the flag at the front of `word` takes in all, 1 or 2.
Result<std::size_t> WordsOfFlag(const CLI::App& app, const std::string& word) {
  if (word.starts_with("--")) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) {
      return UsageError(app, "unknown flag " + Quote(name), SuggestFlag(app, name));
    }
    return TakesValue(*option) && equals == std::string::npos ? 2 : 1;
  }
  // A cluster of short flags; one that takes a value takes the rest of the word, or the next word.
  for (std::size_t at = 1; at < word.size(); ++at) {
    const std::string name = {'-', word[at]};
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) {
      return UsageError(app, "unknown flag " + Quote(name), SuggestFlag(app, name));
    }
    if (TakesValue(*option)) return at + 1 == word.size() ? 2 : 1;
  }
  return 1;
}

// An empty value is a variable that a script has not set, and would pass for a flag that was not
// given.
Result<void> RefuseEmptyValues(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    return UsageError(app, "flag " + Quote(option->get_name()) + " has an empty value");
  }
  return {};
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string arguments) : arguments_(std::move(arguments)) {
    column_width(26);
  }
  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    return "Usage: " + app->get_name() + " " + arguments_ + "\n";
  }

 private:
  std::string arguments_;
};

}  // namespace

void SetUsage(CLI::App& app, std::string arguments) {
  app.formatter(std::make_shared<HelpFormatter>(std::move(arguments)));
}

Error UsageError(const CLI::App& app, std::string what, std::string hint) {
  if (!hint.empty()) hint += " ";
  return Error{.kind = ErrorKind::kUsage,
               .what = std::move(what),
               .hint = std::move(hint) + "'" + app.get_name() + " -h' lists the flags"};
}

Result<std::vector<std::string>> TakeOperands(const CLI::App& app,
                                              std::vector<std::string>& words) {
  std::size_t at = 0;
  std::size_t operands = words.size();
  while (at < words.size()) {
    const std::string& word = words[at];
    if (word == "--") {
      operands = at + 1;
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      operands = at;
      break;
    }
    PLIMSOLL_TRY_ASSIGN(const std::size_t count, WordsOfFlag(app, word));
    if (at + count > words.size()) {
      return UsageError(app, "flag " + Quote(word) + " needs a value");
    }
    at += count;
  }
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(std::min(operands, words.size()));
  std::vector<std::string> rest(first, words.end());
  words.resize(at);
  return rest;
}

Result<bool> ParseFlags(CLI::App& app, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error.what());
  }
  PLIMSOLL_TRY(RefuseEmptyValues(app));
  return false;
}

}  // namespace plimsoll::cli
