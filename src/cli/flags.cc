#include "cli/flags.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "base/text.h"

namespace plimsoll::cli {
namespace {

bool TakesValue(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

constexpr std::string_view kVariablePrefix = "PLIMSOLL_";

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

// PLIMSOLL_PIDS_LIMIT for "--pids-limit" and for "-p,--pids-limit".
std::string VariableOf(std::string_view names) {
  std::string name(kVariablePrefix);
  for (const char c : names.substr(names.rfind("--") + 2))
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// Whether `word` may be the flag `name`, or a cluster or an assignment with it.
bool Mentions(std::string_view word, std::string_view name) {
  if (name.starts_with("--")) {
    return word.starts_with(name) && (word.size() == name.size() || word[name.size()] == '=');
  }
  return word.starts_with('-') && !word.starts_with("--") &&
         word.find(name[1]) != std::string_view::npos;
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

class Flags::App : public CLI::App {
 public:
  using CLI::App::App;
};

Flags::Flags(std::string description, const std::string& program, std::string arguments)
    : app_(std::make_unique<App>(std::move(description), program)) {
  for (char** variable = environ; *variable != nullptr; ++variable)
    has_variables_ = has_variables_ || std::string_view(*variable).starts_with(kVariablePrefix);
  app_->formatter(std::make_shared<HelpFormatter>(std::move(arguments)));
}

Flags::~Flags() = default;

bool Flags::IsWanted(std::string_view names) const {
  if (mentioning_ == nullptr) return true;
  const std::size_t comma = names.find(',');
  const std::string_view last = comma == std::string_view::npos ? names : names.substr(comma + 1);
  return std::any_of(mentioning_->begin(), mentioning_->end(), [&](const std::string& word) {
    return Mentions(word, last) ||
           (comma != std::string_view::npos && Mentions(word, names.substr(0, comma)));
  });
}

void Flags::Value(std::string_view names, std::string& target, const char* text) {
  const bool is_wanted = IsWanted(names);
  if (!is_wanted && !has_variables_) return;
  const std::string variable = VariableOf(names);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this process has one thread
  if (!is_wanted && std::getenv(variable.c_str()) == nullptr) return;
  app_->add_option(std::string(names), target, text)->envname(variable);
}

void Flags::Values(std::string_view names, Words& target, const char* text) {
  if (!IsWanted(names)) return;
  app_->add_option(std::string(names), target, text)->take_all()->allow_extra_args(false);
}

void Flags::Switch(std::string_view names, bool& target, const char* text) {
  if (IsWanted(names)) app_->add_flag(std::string(names), target, text);
}

Error Flags::UsageError(std::string what, std::string hint) const {
  if (!hint.empty()) hint += " ";
  return Error{.kind = ErrorKind::kUsage,
               .what = std::move(what),
               .hint = std::move(hint) + "'" + app_->get_name() + " -h' lists the flags"};
}

std::string Flags::SuggestFlag(const std::string& word) const {
  for (const Habit& habit : kHabits) {
    if (word == habit.flag) return std::string(habit.hint) + ".";
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return DidYouMean(word, candidates);
}

// How many words the flag at the front of `word` takes in all, 1 or 2.
Result<std::size_t> Flags::WordsOfFlag(const std::string& word) const {
  const auto find = [&](const std::string& name) -> Result<const CLI::Option*> {
    const CLI::Option* option = std::as_const(*app_).get_option_no_throw(name);
    if (option != nullptr) return option;
    return UsageError("unknown flag " + Quote(name), SuggestFlag(name));
  };
  if (word.starts_with("--")) {
    const std::size_t equals = word.find('=');
    PLIMSOLL_TRY_ASSIGN(const CLI::Option* option, find(word.substr(0, equals)));
    return TakesValue(*option) && equals == std::string::npos ? 2 : 1;
  }
  // A cluster of short flags; one that takes a value takes the rest of the word, or the next word.
  for (std::size_t at = 1; at < word.size(); ++at) {
    PLIMSOLL_TRY_ASSIGN(const CLI::Option* option, find({'-', word[at]}));
    if (TakesValue(*option)) return at + 1 == word.size() ? 2 : 1;
  }
  return 1;
}

// Splits `words` where the flags end: at the first operand, or behind "--". What is left in `words`
// are flags with their values; the operands are returned.
Result<Words> Flags::TakeOperands(Words& words) const {
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
    PLIMSOLL_TRY_ASSIGN(const std::size_t count, WordsOfFlag(word));
    if (at + count > words.size()) return UsageError("flag " + Quote(word) + " needs a value");
    at += count;
  }
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(std::min(operands, words.size()));
  Words rest(first, words.end());
  words.resize(at);
  return rest;
}

// An empty value is a variable that a script has not set, and would pass for a flag that was not
// given.
Result<void> Flags::RefuseEmptyValues() const {
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    const Words& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    return UsageError("flag " + Quote(option->get_name()) + " has an empty value");
  }
  return {};
}

// For a flag that takes one value and has several.
Result<void> Flags::RefuseRepeated() const {
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    const Words& values = option->results();
    const bool takes_one = option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
    if (!takes_one || values.size() < 2) continue;
    const std::size_t count = values.size();
    std::string what = "flag " + Quote(option->get_name()) + " was given " +
                       (count == 2 ? "twice" : std::to_string(count) + " times") + ": ";
    for (std::size_t at = 0; at < count; ++at) {
      if (at > 0) what += at + 1 == count ? " and " : ", ";
      what += Quote(values[at]);
    }
    return UsageError(std::move(what));
  }
  return {};
}

// True when help was asked for.
Result<bool> Flags::ParseFlags(Words words) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app_->parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ArgumentMismatch& error) {
    PLIMSOLL_TRY(RefuseRepeated());
    return UsageError(error.what());
  } catch (const CLI::ParseError& error) {
    return UsageError(error.what());
  }
  PLIMSOLL_TRY(RefuseEmptyValues());
  return false;
}

Result<Flags::Parsed> Flags::Parse(Words words, FlagsEnd end) {
  Parsed parsed;
  Words flags;
  for (bool more = true; more;) {
    const std::size_t all = words.size();
    PLIMSOLL_TRY_ASSIGN(Words rest, TakeOperands(words));
    flags.insert(flags.end(), words.begin(), words.end());
    const bool dashes_between = words.size() + rest.size() < all;
    const bool only_operands = dashes_between || end == FlagsEnd::kAtFirstOperand;
    const auto taken = only_operands || rest.empty() ? rest.end() : rest.begin() + 1;
    parsed.operands.insert(parsed.operands.end(), rest.begin(), taken);
    words.assign(taken, rest.end());
    more = !words.empty();
  }
  PLIMSOLL_TRY_ASSIGN(const bool help, ParseFlags(std::move(flags)));
  if (help) parsed.help = app_->help();
  return parsed;
}

}  // namespace plimsoll::cli
