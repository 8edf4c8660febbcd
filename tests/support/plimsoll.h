// The plimsoll of this build, run as a user would run it, in a home of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace plimsoll::testing_support {

using Words = std::vector<std::string>;

// A test of the whole program. Its store is made once for the test program; home, workspace and
// temporary directory belong to the test. What a test leaves running fails it.
class PlimsollTest : public ::testing::Test {
 protected:
  PlimsollTest();
  ~PlimsollTest() override;

  // "plimsoll WORDS..." in the test's workspace, with a small environment.
  Command Plimsoll(Words words) const;
  // "plimsoll exec WORDS...", to be changed before it is run, or run as it is.
  Command Exec(Words words) const;
  Outcome RunExec(Words words) const { return RunCommand(Exec(std::move(words))); }
  // "plimsoll exec WORDS... -- sh -c SCRIPT".
  Command Script(std::string script, Words flags = {}) const;
  Outcome RunScript(std::string script, Words flags = {}) const {
    return RunCommand(Script(std::move(script), std::move(flags)));
  }

  // A volume flag's value that shows the test's probe programs as /probes.
  static std::string ProbesVolume();

  const std::string& Workspace() const { return workspace_; }
  const std::string& Home() const { return home_; }
  const std::string& Temporary() const { return temporary_; }
  const TempDir& Folder() const { return folder_; }
  // Where the default store of these runs is.
  static std::string StorePath();

 private:
  TempDir folder_;
  std::string home_;
  std::string workspace_;
  std::string temporary_;
};

// The flags of a writable volume SRC:DST; root has to say who is to write.
Words Writable(const std::string& volume);

// A fifo in a volume, with which a guest says that it has come to a point. For runs with --json,
// whose output comes at the end.
class Doorbell {
 public:
  explicit Doorbell(const TempDir& folder);
  // The flags that show it to the guest.
  Words Flags() const;
  // A shell command that rings.
  static std::string Ring() { return "echo > /bell/fifo"; }
  // Waits until the guest rings, at most kPatience.
  void Wait();

 private:
  std::string folder_;
  sys::UniqueFd fifo_;
};

// The JSON document on standard output; fails the test when there is anything else.
json::Document ParseAnswer(const Outcome& outcome);

// The value at a JSON pointer as text: a string as it is, others as JSON writes them, an array or
// an object as the number of its members. "missing" where there is none.
std::string At(const json::Document& document, std::string_view pointer);

// What the response says of the limit `name` in `member`, such as "mechanism" or "hit"; "missing"
// where it is not listed.
std::string LimitMember(const json::Document& document, std::string_view name,
                        const std::string& member);
std::string Mechanism(const json::Document& document, std::string_view name);

// The program under test: this build's, or what PLIMSOLL_TEST_BINARY names.
std::string Binary();

// True when the tests run as root, so that the guest is somebody else on the host.
bool IsRoot();
// The host's user whom the guest is.
unsigned GuestHostUid();

// Sets the variable, in place of one of that name.
void SetVariable(Command& command, std::string_view name, std::string_view value);
void UnsetVariable(Command& command, std::string_view name);

// Everything below `path` as one line each: name, kind, size; but for a store's records, to which
// every run adds. For comparing before and after.
std::vector<std::string> ListTree(const std::string& path);

}  // namespace plimsoll::testing_support
