// Build tool: compiles policy/default.json, so that no run has to.
//
//   compile PROFILE.json FOLDER
//
// writes into FOLDER policy_default.h, which policy.cc includes, and the same programs as bytes:
// default.bpf (guard and profile together), guard.bpf, profile.bpf. Only here are system calls
// named by libseccomp.

#include <seccomp.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "crypto/sha256.h"
#include "policy/bpf.h"
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

std::string TextConstant(std::string_view name, std::string_view value) {
  std::ostringstream line;
  line << "inline constexpr std::string_view " << name << " =\n    \"" << value << "\";\n";
  return line.str();
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

Result<void> Compile(const std::string& profile_path, const std::string& folder) {
  PLIMSOLL_TRY_ASSIGN(const std::string text, Read(profile_path));
  PLIMSOLL_TRY_ASSIGN(const Profile parsed, ParseProfile(text, profile_path));
  PLIMSOLL_TRY_ASSIGN(const Verdicts profile, ToVerdicts(parsed, NumberOf));
  PLIMSOLL_TRY_ASSIGN(const Program guard_program, EmitProgram(Guard()));
  PLIMSOLL_TRY_ASSIGN(const Program profile_program, EmitProgram(profile));
  PLIMSOLL_TRY_ASSIGN(const Program program, EmitProgram(Stack(Guard(), profile)));

  PLIMSOLL_TRY(Write(folder + "/guard.bpf", Bytes(guard_program)));
  PLIMSOLL_TRY(Write(folder + "/profile.bpf", Bytes(profile_program)));
  PLIMSOLL_TRY(Write(folder + "/default.bpf", Bytes(program)));
  return Write(folder + "/policy_default.h",
               "// Made by src/policy/compile_main.cc from policy/default.json.\n#pragma once\n\n"
               "#include <linux/filter.h>\n\n#include <string_view>\n\n"
               "namespace plimsoll::policy::compiled {\n\n" +
                   ProgramConstant("kDefaultProgram", program) +
                   TextConstant("kDefaultDigest", "seccomp:" + DigestOf(text)) +
                   TextConstant("kDefaultProgramDigest", DigestOf(Bytes(program))) +
                   TextConstant("kGuardDigest", DigestOf(Bytes(guard_program))) +
                   TextConstant("kDefaultProfileProgramDigest", DigestOf(Bytes(profile_program))) +
                   "\n}  // namespace plimsoll::policy::compiled\n");
}

}  // namespace
}  // namespace plimsoll::policy

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() != 2) {
    std::cerr << "usage: compile PROFILE.json FOLDER\n";
    return 2;
  }
  const auto done = plimsoll::policy::Compile(args[0], args[1]);
  if (done) return 0;
  std::cerr << "compile: " << done.error().Message() << "\n";
  return 1;
}
