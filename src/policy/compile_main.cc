// Build tool: compiles the shipped policies, so that no run has to.
//
//   compile TEXTS FOLDER
//
// reads default.json and the differences from the folder TEXTS and writes into FOLDER:
// policy_shipped.h (the default with every set of differences, and the texts), policy_calls.h (the
// names of system calls, for which libseccomp is asked only here), and for those who want them as
// bytes default.bpf (guard and profile together), guard.bpf and profile.bpf.

#include <seccomp.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "crypto/sha256.h"
#include "policy/bpf.h"
#include "policy/describe.h"
#include "policy/difference.h"
#include "policy/guard.h"
#include "policy/profile.h"
#include "policy/program.h"

namespace plimsoll::policy {
namespace {

Result<std::optional<std::uint32_t>> NumberOf(const std::string& name) {
  const int number = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name.c_str());
  if (number == __NR_SCMP_ERROR) {
    return Error{.kind = ErrorKind::kProtocol,
                 .what = "no architecture has a system call " + Quote(name)};
  }
  // Numbers below -1 stand for calls that other architectures have.
  if (number < 0) return std::optional<std::uint32_t>();
  return std::optional<std::uint32_t>(static_cast<std::uint32_t>(number));
}

Result<std::string> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{.kind = ErrorKind::kHost, .what = "read " + Quote(path)};
  return text.str();
}

Result<void> Write(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) return Error{.kind = ErrorKind::kHost, .what = "write " + Quote(path)};
  return {};
}

std::string DigestOf(std::string_view bytes) {
  return "sha256:" + crypto::Sha256HexOf(bytes);
}

std::string Literal(std::string_view value) {
  return "\"" + std::string(value) + "\"";
}

std::string ProgramConstant(std::string_view name, const Program& program) {
  std::ostringstream lines;
  lines << "inline constexpr sock_filter " << name << "[] = {\n" << std::hex;
  for (const sock_filter& op : program) {
    lines << "    {0x" << op.code << ", 0x" << unsigned{op.jt} << ", 0x" << unsigned{op.jf}
          << ", 0x" << op.k << "},\n";
  }
  lines << "};\n";
  return lines.str();
}

// A text of any length and content.
std::string TextConstant(std::string_view name, std::string_view text) {
  std::ostringstream line;
  line << "inline constexpr std::string_view " << name << " = R\"--json--(" << text
       << ")--json--\";\n";
  return line.str();
}

struct Compiled {
  Program alone;    // the profile's
  Program guarded;  // with the guard before it: what runs
};

Result<Compiled> CompileProfile(const Profile& profile) {
  PLIMSOLL_TRY_ASSIGN(const Verdicts verdicts, ToVerdicts(profile, NumberOf));
  PLIMSOLL_TRY_ASSIGN(Program alone, EmitProgram(verdicts));
  PLIMSOLL_TRY_ASSIGN(Program guarded, EmitProgram(Stack(Guard(), verdicts)));
  return Compiled{.alone = std::move(alone), .guarded = std::move(guarded)};
}

// The shipped texts, and the default with every set of differences.
class Shipped {
 public:
  Result<void> Load(const std::string& folder) {
    PLIMSOLL_TRY_ASSIGN(default_text_, Read(folder + "/default.json"));
    PLIMSOLL_TRY_ASSIGN(default_, ParseProfile(default_text_, "default.json"));
    if (CanonicalText(default_) != default_text_) {
      return Error{.kind = ErrorKind::kProtocol, .what = "default.json is not in canonical form"};
    }
    for (const std::string name : {"rw-volume", "sdk"}) {
      PLIMSOLL_TRY_ASSIGN(const std::string text, Read(folder + "/" + name + ".json"));
      PLIMSOLL_TRY_ASSIGN(Difference difference, ParseDifference(text, name + ".json"));
      differences_.push_back({name, text, std::move(difference)});
    }
    return {};
  }

  Result<std::string> Header() const {
    std::string programs;
    std::string table = "inline constexpr ShippedPolicy kPolicies[] = {\n";
    for (std::size_t set = 0; set < std::size_t{1} << differences_.size(); ++set) {
      PLIMSOLL_TRY_ASSIGN(const std::string row, AddPolicy(set, programs));
      table += row;
    }
    PLIMSOLL_TRY_ASSIGN(const Program guard, EmitProgram(Guard()));
    std::string texts = TextConstant("kDefaultText", default_text_);
    std::string names = "inline constexpr NamedText kDifferences[] = {\n";
    for (const Named& difference : differences_) {
      names += "    {" + Literal(difference.name) + ", R\"--json--(" + difference.text +
               ")--json--\"},\n";
    }
    return "// Made by src/policy/compile_main.cc from policy/.\n#pragma once\n\n"
           "#include \"policy/shipped.h\"\n\n"
           "namespace plimsoll::policy::compiled {\n\n" +
           programs + table + "};\n" + texts + names + "};\n" +
           "inline constexpr std::string_view kGuardDigest =\n    " +
           Literal(DigestOf(Bytes(guard))) + ";\n\n}  // namespace plimsoll::policy::compiled\n";
  }

  Result<void> WritePrograms(const std::string& folder) const {
    PLIMSOLL_TRY_ASSIGN(const Program guard, EmitProgram(Guard()));
    PLIMSOLL_TRY_ASSIGN(const Compiled compiled, CompileProfile(default_));
    PLIMSOLL_TRY(Write(folder + "/guard.bpf", Bytes(guard)));
    PLIMSOLL_TRY(Write(folder + "/profile.bpf", Bytes(compiled.alone)));
    return Write(folder + "/default.bpf", Bytes(compiled.guarded));
  }

 private:
  struct Named {
    std::string name;
    std::string text;
    Difference difference;
  };

  // The row of the table for one set of differences, given as bits; its program goes to `programs`.
  Result<std::string> AddPolicy(std::size_t set, std::string& programs) const {
    Profile profile = default_;
    std::string names;
    for (std::size_t i = 0; i < differences_.size(); ++i) {
      if ((set >> i & 1U) == 0) continue;
      PLIMSOLL_TRY_ASSIGN(profile, Apply(differences_[i].difference, std::move(profile)));
      names += (names.empty() ? "" : " ") + differences_[i].name;
    }
    PLIMSOLL_TRY_ASSIGN(const Compiled compiled, CompileProfile(profile));
    const std::string constant = "kProgram" + std::to_string(set);
    programs += ProgramConstant(constant, compiled.guarded);
    return "    {" + Literal(names) + ", " + constant + ",\n     " +
           Literal("seccomp:" + DigestOf(CanonicalText(profile))) + ",\n     " +
           Literal(DigestOf(Bytes(compiled.guarded))) + ",\n     " +
           Literal(DigestOf(Bytes(compiled.alone))) + "},\n";
  }

  std::string default_text_;
  Profile default_ = {};
  std::vector<Named> differences_;  // by name, the order in which they are applied
};

// Names with their numbers as offsets into one text, which the loader need not relocate; and the
// numbers in the order of their names, to look a name up.
std::string CallTable() {
  constexpr int kNumbers = 1024;
  std::string names = "\"\\0\"";
  std::string offsets;
  std::size_t size = 1;
  std::size_t written = 0;
  std::map<std::string, int> by_name;
  for (int number = 0; number < kNumbers; ++number) {
    char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, number);
    if (name == nullptr) continue;
    for (; written < static_cast<std::size_t>(number); ++written)
      offsets += "0,";
    offsets += std::to_string(size) + (number % 16 == 0 ? ",\n" : ",");
    ++written;
    names += "\n    \"" + std::string(name) + "\\0\"";
    size += std::string(name).size() + 1;
    by_name.emplace(name, number);
    std::free(name);  // NOLINT(cppcoreguidelines-no-malloc): libseccomp's, by its manual
  }
  std::string sorted;
  for (const auto& [name, number] : by_name)
    sorted += std::to_string(number) + (number % 16 == 0 ? ",\n" : ",");
  return "// Made by src/policy/compile_main.cc from what libseccomp knows.\n#pragma once\n\n"
         "#include <cstdint>\n\nnamespace plimsoll::policy::compiled {\n\n"
         "inline constexpr char kCallNames[] =\n    " +
         names + ";\ninline constexpr std::uint16_t kCallNameOffsets[] = {\n" + offsets +
         "};\ninline constexpr std::uint16_t kCallsByName[] = {\n" + sorted +
         "};\n\n}  // namespace plimsoll::policy::compiled\n";
}

Result<void> Compile(const std::string& texts, const std::string& folder) {
  Shipped shipped;
  PLIMSOLL_TRY(shipped.Load(texts));
  PLIMSOLL_TRY_ASSIGN(const std::string header, shipped.Header());
  PLIMSOLL_TRY(Write(folder + "/policy_shipped.h", header));
  PLIMSOLL_TRY(Write(folder + "/policy_calls.h", CallTable()));
  return shipped.WritePrograms(folder);
}

}  // namespace
}  // namespace plimsoll::policy

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() != 2) {
    std::cerr << "usage: compile TEXTS FOLDER\n";
    return 2;
  }
  const auto done = plimsoll::policy::Compile(args[0], args[1]);
  if (done) return 0;
  std::cerr << "compile: " << done.error().Message() << "\n";
  return 1;
}
