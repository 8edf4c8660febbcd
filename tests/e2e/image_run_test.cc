// Real language runtimes from real images. scripts/make-image makes them; PLIMSOLL_TEST_IMAGES
// names another folder with them.

#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;

using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;

using testing_support::TempDir;
using testing_support::Words;

// The images are imported once for the test program.
class ImageRun : public PlimsollTest {
 protected:
  // "plimsoll exec FLAGS --image NAME -- COMMAND".
  Outcome RunImage(const std::string& name, Words flags, const Words& command) const {
    static const TempDir store;
    const std::string path = Layout(name);
    if (::access((path + "/index.json").c_str(), R_OK) != 0) {
      ADD_FAILURE() << path << " is missing: run 'scripts/make-image " << name << "'";
      return {};
    }
    flags.insert(flags.end(), {"--store", store.Path(), "--image", "oci:" + path, "--"});
    flags.insert(flags.end(), command.begin(), command.end());
    return RunExec(std::move(flags));
  }
  Outcome RunPython(const std::string& script, Words flags = {}) const {
    return RunImage("python", std::move(flags), {"python3", "-c", script});
  }
  Outcome RunNode(const std::string& script, Words flags = {}) const {
    return RunImage("node", std::move(flags), {"node", "-e", script});
  }

 private:
  static std::string Layout(const std::string& name) {
    const char* folder = std::getenv("PLIMSOLL_TEST_IMAGES");
    return std::string(folder != nullptr ? folder : PLIMSOLL_IMAGES_DIR) + "/" + name;
  }
};

// What libraries try first and what they fall back on.
constexpr const char* kPythonAtWork = R"(
import asyncio, concurrent.futures, hashlib, json, multiprocessing, os, pwd, re, socket, sqlite3
import ssl, subprocess, tempfile, threading, time, zoneinfo
found = []
thread = threading.Thread(target=lambda: found.append('thread')); thread.start(); thread.join()
found.append(subprocess.run(['sh', '-c', 'echo subprocess'], capture_output=True, text=True).stdout.strip())
found.append(socket.getaddrinfo('localhost', 80, type=socket.SOCK_STREAM)[0][4][0])
with concurrent.futures.ThreadPoolExecutor(4) as pool: found.append(sum(pool.map(len, ['a', 'bb'])))
async def nested():
    process = await asyncio.create_subprocess_exec('echo', 'asyncio', stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0].decode().strip()
found.append(asyncio.run(nested()))
with tempfile.NamedTemporaryFile() as file: file.write(b'x'); found.append('tempfile')
found.append(pwd.getpwuid(os.getuid()).pw_name)
base = sqlite3.connect('/work/base'); base.execute('create table t (a)'); base.commit(); found.append('sqlite')
left, right = socket.socketpair(); left.send(b'pair'); found.append(right.recv(9).decode())
print(json.dumps(found))
)";

TEST_F(ImageRun, PythonWorks) {
  const Outcome outcome = RunPython(kPythonAtWork, {"--memory", "256M", "-q"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("[\"thread\", \"subprocess\", \"")) << outcome.out;
  EXPECT_TRUE(
      outcome.out.ends_with("3, \"asyncio\", \"tempfile\", \"plimsoll\", \"sqlite\", \"pair\"]\n"))
      << outcome.out;
}

TEST_F(ImageRun, PythonForksAPoolOfWorkers) {
  const Outcome outcome = RunPython(
      "import multiprocessing\n"
      "with multiprocessing.Pool(3) as pool: print(pool.map(abs, [-1, -2, -3]))");
  EXPECT_EQ(outcome.out, "[1, 2, 3]\n") << outcome.err;
}

TEST_F(ImageRun, PythonBeyondTheMemoryLimitIsEndedWithTheReason) {
  const Outcome outcome =
      RunPython("b = bytearray(10**9); print(len(b))", {"--memory", "128M", "--json"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 137);
  EXPECT_EQ(At(answer, "/project/steps/0/oom"), "true");
  EXPECT_NE(At(answer, "/project/outcome_detail").find("memory budget"), std::string::npos);
}

TEST_F(ImageRun, PythonCannotReachAnyNetwork) {
  const Outcome outcome = RunPython(
      "import socket\n"
      "for host in ('example.org', '127.0.0.1', '::1', '10.0.0.1'):\n"
      "    try: socket.create_connection((host, 80), 5); print('connected')\n"
      "    except OSError as error: print(type(error).__name__)");
  EXPECT_EQ(outcome.out.find("connected"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(ImageRun, PythonFindsItsImageReadOnly) {
  const Outcome outcome = RunPython(
      "import os\n"
      "try: open('/usr/lib/x', 'w')\n"
      "except OSError as error: print(error.strerror)\n"
      "print(os.getcwd(), os.environ['LANG'])");
  EXPECT_EQ(outcome.out, "Read-only file system\n/work C.UTF-8\n") << outcome.err;
}

constexpr const char* kNodeAtWork = R"js(
const fs = require('fs'), os = require('os'), { execFileSync } = require('child_process');
const { Worker } = require('worker_threads'), dns = require('dns'), crypto = require('crypto');
fs.writeFileSync('/tmp/f', 'x');
const found = [typeof fetch, fs.readFileSync('/tmp/f', 'utf8')];
found.push(execFileSync('echo', ['child']).toString().trim());
found.push(os.cpus().length > 0, os.userInfo().username, crypto.randomBytes(4).length);
const inner = "require('worker_threads').parentPort.postMessage('worker')";
dns.lookup('localhost', (error, address) => {
  found.push(error ? error.code : 'localhost');
  new Worker(inner, { eval: true }).on('message', (text) => {
    found.push(text);
    console.log(JSON.stringify(found));
  });
});
)js";

TEST_F(ImageRun, NodeWorks) {
  const Outcome outcome = RunNode(kNodeAtWork, {"--memory", "256M", "-q"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "[\"function\",\"x\",\"child\",true,\"plimsoll\",4,\"localhost\",\"worker\"]\n");
}

TEST_F(ImageRun, NodeWorksInLittleMemory) {
  const Outcome outcome = RunNode("fetch; console.log(1)", {"--memory", "256M", "-q"});
  EXPECT_EQ(outcome.out, "1\n") << outcome.err;
}

TEST_F(ImageRun, AnImageWithoutACommandRunsItsOwn) {
  const Outcome outcome = RunImage("python", {"--json"}, {});
  EXPECT_EQ(At(ParseAnswer(outcome), "/project/steps/0/command"), "'python3'");
  EXPECT_EQ(outcome.status, 0);
}

}  // namespace
}  // namespace plimsoll
