#include "support/plimsoll.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace plimsoll::testing_support {
namespace {

constexpr std::chrono::seconds kEndOfEverything{5};
constexpr unsigned kNobody = 65534;

// The base directory of data, with the store made by a first run.
const std::string& DataHome() {
  static const TempDir directory;
  return directory.Path();
}

std::string Number(const json::Value& value) {
  if (const auto number = value.Uint()) return std::to_string(*number);
  if (const auto number = value.Int()) return std::to_string(*number);
  return std::to_string(*value.Double());
}

std::string AsText(const json::Value& value) {
  switch (value.GetKind()) {
    case json::Kind::kNull:
      return "null";
    case json::Kind::kBool:
      return *value.Bool() ? "true" : "false";
    case json::Kind::kString:
      return std::string(*value.String());
    case json::Kind::kArray:
      return std::to_string(value.Array()->size());
    case json::Kind::kObject:
      return std::to_string(value.Members()->size());
    default:
      return Number(value);
  }
}

std::optional<json::Value> Step(const json::Value& value, std::string_view key) {
  if (value.GetKind() == json::Kind::kArray) {
    const auto index = ParseUint(key);
    const auto values = value.Array();
    if (!index || *index >= values->size()) return std::nullopt;
    return (*values)[*index];
  }
  const auto members = value.Members();
  if (!members) return std::nullopt;
  for (const auto& [name, member] : *members) {
    if (name == key) return member;
  }
  return std::nullopt;
}

}  // namespace

namespace {

// A pair that anybody may know.
constexpr std::string_view kPrivateKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n"
    "-----END PUBLIC KEY-----\n";

}  // namespace

PlimsollTest::PlimsollTest()
    : home_(folder_.MakeDirectory("home")),
      workspace_(folder_.MakeDirectory("workspace")),
      temporary_(folder_.MakeDirectory("tmp")) {
  AdoptOrphans();
  // The mode that a checkout usually has: a guest of root is somebody else.
  EXPECT_EQ(::chmod(folder_.Path().c_str(), 0755), 0);
  // A user's second run: the first says that it has made a key.
  folder_.MakeDirectory("home/.config");
  folder_.MakeDirectory("home/.config/plimsoll");
  folder_.WriteFile("home/.config/plimsoll/harness.key", kPrivateKey, 0600);
  folder_.WriteFile("home/.config/plimsoll/harness.pub", kPublicKey);
}

PlimsollTest::~PlimsollTest() {
  EXPECT_TRUE(WaitForOrphans(kEndOfEverything)) << "the test left processes running";
}

Command PlimsollTest::Plimsoll(Words words) const {
  words.insert(words.begin(), Binary());
  return {.arguments = std::move(words),
          .environment = {"PATH=/usr/bin:/bin", "HOME=" + home_, "XDG_DATA_HOME=" + DataHome(),
                          "TMPDIR=" + temporary_},
          .directory = workspace_};
}

Command PlimsollTest::Exec(Words words) const {
  words.insert(words.begin(), "exec");
  return Plimsoll(std::move(words));
}

Command PlimsollTest::Script(std::string script, Words flags) const {
  flags.insert(flags.end(), {"--", "sh", "-c", std::move(script)});
  return Exec(std::move(flags));
}

std::string PlimsollTest::ProbesVolume() {
  return std::string(PLIMSOLL_PROBES_DIR) + ":/probes";
}

std::string PlimsollTest::StorePath() {
  return DataHome() + "/plimsoll";
}

Words Writable(const std::string& volume) {
  Words flags = {"-v", volume + ":rw"};
  if (IsRoot()) flags.insert(flags.end(), {"--host-user", std::to_string(kNobody)});
  return flags;
}

Doorbell::Doorbell(const TempDir& folder) : folder_(folder.MakeDirectory("bell")) {
  const std::string path = folder_ + "/fifo";
  (void)::unlink(path.c_str());
  // For everybody: a guest of root is somebody else.
  EXPECT_TRUE(::mkfifo(path.c_str(), 0666) == 0 && ::chmod(path.c_str(), 0666) == 0 &&
              ::chmod(folder_.c_str(), 0777) == 0)
      << path;
  // For both ways, so that the other end is always open.
  fifo_.Reset(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

Words Doorbell::Flags() const {
  return Writable(folder_ + ":/bell");
}

void Doorbell::Wait() {
  struct pollfd rung = {.fd = fifo_.Get(), .events = POLLIN, .revents = 0};
  const auto patience = std::chrono::milliseconds(kPatience).count();
  EXPECT_EQ(::poll(&rung, 1, static_cast<int>(patience)), 1) << "the guest never rang";
  char byte = 0;
  EXPECT_EQ(::read(fifo_.Get(), &byte, 1), 1);
}

json::Document ParseAnswer(const Outcome& outcome) {
  auto document = json::Parse(outcome.out, "standard output", {.bytes = std::size_t{64} << 20U});
  if (document) return *std::move(document);
  ADD_FAILURE() << document.error().Message() << "; standard output: " << outcome.out
                << "; standard error: " << outcome.err;
  return *json::Parse("{}", "nothing");
}

std::string At(const json::Document& document, std::string_view pointer) {
  std::optional<json::Value> value = document.Root();
  for (const std::string_view key : Split(pointer.substr(1), '/')) {
    value = Step(*value, key);
    if (!value) return "missing";
  }
  return AsText(*value);
}

std::string LimitMember(const json::Document& document, std::string_view name,
                        const std::string& member) {
  for (int i = 0;; ++i) {
    const std::string limit = "/limits/" + std::to_string(i);
    const std::string found = At(document, limit + "/name");
    if (found == name) return At(document, limit + "/" + member);
    if (found == "missing") return found;
  }
}

std::string Mechanism(const json::Document& document, std::string_view name) {
  return LimitMember(document, name, "mechanism");
}

std::string Binary() {
  const char* other = ::getenv("PLIMSOLL_TEST_BINARY");
  return other != nullptr ? other : PLIMSOLL_BINARY;
}

bool IsRoot() {
  return ::geteuid() == 0;
}

unsigned GuestHostUid() {
  return IsRoot() ? kNobody : ::geteuid();
}

void UnsetVariable(Command& command, std::string_view name) {
  std::erase_if(command.environment, [&](const std::string& variable) {
    return variable.substr(0, variable.find('=')) == name;
  });
}

void SetVariable(Command& command, std::string_view name, std::string_view value) {
  UnsetVariable(command, name);
  command.environment.push_back(std::string(name) + "=" + std::string(value));
}

std::vector<std::string> ListTree(const std::string& path) {
  std::vector<std::string> lines;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    const std::string name = entry.path().filename();
    if (name == "records.jsonl" || name == "runner-digest") continue;
    struct stat status = {};
    EXPECT_EQ(::lstat(entry.path().c_str(), &status), 0) << entry.path();
    lines.push_back(entry.path().string() + " " + std::to_string(status.st_mode) + " " +
                    (S_ISDIR(status.st_mode) ? "" : std::to_string(status.st_size)));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace plimsoll::testing_support
