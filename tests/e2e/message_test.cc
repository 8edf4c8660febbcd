// What a mistake is answered with: what failed, with which value, and what to do; always 125, and
// nothing on standard output.

#include <sys/stat.h>

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::Command;
using testing_support::Outcome;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::Words;

struct Mistake {
  std::string name;
  Words words;
  std::string message;  // the whole of standard error
};

std::string Lines(const std::string& what, const std::string& hint = {}) {
  return "plimsoll: " + what + "\n" + (hint.empty() ? "" : "plimsoll: hint: " + hint + "\n");
}

const std::string kCommands = "'plimsoll -h' lists the commands";
const std::string kExecFlags = "'plimsoll exec -h' lists the flags";
const std::string kElsewhere = "--store or PLIMSOLL_STORE names another folder";

std::vector<Mistake> Mistakes() {
  return {
      {"no command", {}, Lines("no command was given", kCommands)},
      {"unknown command",
       {"exce"},
       Lines("unknown command 'exce'", "did you mean 'exec'? " + kCommands)},
      {"unknown flag",
       {"exec", "--imge", "x", "--", "true"},
       Lines("unknown flag '--imge'", "did you mean '--image'? " + kExecFlags)},
      {"habit of another tool",
       {"exec", "-it", "--", "sh"},
       Lines("unknown flag '-t'",
             "a terminal for the guest is not supported yet; -i alone passes standard input on. " +
                 kExecFlags)},
      {"flag without its value",
       {"exec", "--image"},
       Lines("flag '--image' needs a value", kExecFlags)},
      {"bad image name",
       {"exec", "--image", "Bad", "--", "true"},
       Lines("image 'Bad': 'Bad' is no image name (lower-case letters, digits and separators, at "
             "most 100 bytes)",
             "expected NAME[:TAG], NAME@sha256:HEX, oci:DIR[:TAG], oci-archive:FILE or "
             "docker-archive:FILE")},
      {"unknown image",
       {"exec", "--image", "nosuch", "--", "true"},
       Lines("the store has no image 'nosuch:latest'",
             "'plimsoll image ls' lists what is there, 'plimsoll image import SRC --name nosuch' "
             "brings one in")},
      {"missing layout",
       {"exec", "--image", "oci:/nonexistent", "--", "true"},
       Lines("image 'oci:/nonexistent': open '/nonexistent': No such file or directory (ENOENT)")},
      {"missing volume",
       {"exec", "-v", "/nonexistent:/x", "--", "true"},
       Lines("--volume source '/nonexistent': No such file or directory (ENOENT)",
             "create it first; plimsoll makes nothing on the host")},
      {"volume without a destination",
       {"exec", "-v", "foo", "--", "true"},
       Lines("--volume 'foo': expected SRC:DST, SRC:DST:ro or SRC:DST:rw")},
      {"volume with an unknown option",
       {"exec", "-v", ".:/x:wr", "--", "true"},
       Lines("--volume '.:/x:wr': expected SRC:DST, SRC:DST:ro or SRC:DST:rw")},
      {"bad size",
       {"exec", "--memory", "12 potatoes", "--", "true"},
       Lines("--memory '12 potatoes': expected a number of bytes with K, M, G or T, such as "
             "'512M'")},
      {"bad time",
       {"exec", "--timeout", "soon", "--", "true"},
       Lines("--timeout 'soon': expected a duration with ms, s, m, h or d, such as '30s'; a bare "
             "number is seconds")},
      {"network",
       {"exec", "--network", "host", "--", "true"},
       Lines("--network 'host': expected none",
             "the guest has no network; single routes of single APIs are opened by a grant")},
      {"missing variable file",
       {"exec", "--env-file", "/nonexistent", "--", "true"},
       Lines("--env-file: open '/nonexistent': No such file or directory (ENOENT)")},
      {"store that is a file",
       {"exec", "--store", "/etc/passwd", "--", "true"},
       Lines("image store '/etc/passwd': open '/etc/passwd': Not a directory (ENOTDIR)",
             kElsewhere)},
      {"store that cannot be made",
       {"image", "ls", "--store", "/proc/nope"},
       Lines("image store '/proc/nope': mkdir '/proc/nope': No such file or directory (ENOENT)",
             kElsewhere)},
      {"unknown image command",
       {"image", "list"},
       Lines("unknown image command 'list'",
             "did you mean 'ls'? 'plimsoll image -h' lists the commands")},
      {"folder that is no image",
       {"image", "import", "/etc"},
       Lines("image '/etc': neither an OCI image layout (index.json) nor a docker save archive "
             "(manifest.json)")},
  };
}

class Message : public PlimsollTest {};

TEST_F(Message, OfEveryMistakeNamesTheValueAndSaysWhatToDo) {
  for (const Mistake& mistake : Mistakes()) {
    const Outcome outcome = RunCommand(Plimsoll(mistake.words));
    EXPECT_EQ(outcome.status, 125) << mistake.name;
    EXPECT_EQ(outcome.out, "") << mistake.name;
    EXPECT_EQ(outcome.err, mistake.message) << mistake.name;
  }
}

}  // namespace
}  // namespace plimsoll
