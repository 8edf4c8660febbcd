#include "cli/main_help.h"

namespace plimsoll::cli {

std::string_view MainHelp() {
  return "Usage: plimsoll COMMAND [FLAGS] ...\n"
         "\n"
         "Runs untrusted code in a sandbox of its own: no root, no daemon, no network.\n"
         "\n"
         "  exec [FLAGS] [--] COMMAND [ARG...]   run one command\n"
         "  run [FLAGS] REQUEST.json             run a request: files, steps, artifacts\n"
         "  plan [FLAGS] [--] COMMAND [ARG...]   print the plan of such a run, and run nothing\n"
         "  image import|ls|inspect|rm|verify    the local image store\n"
         "  policy show|diff|check|explain|...   the system call policies\n"
         "  keygen, verify, show                 keys, and the signed records of runs\n"
         "  doctor                               what this host can do, and what to mend\n"
         "\n"
         "'plimsoll COMMAND -h' explains a command; the manual is plimsoll(1).\n";
}

}  // namespace plimsoll::cli
