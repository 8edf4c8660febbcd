"""Takes the measurements of scripts/bench, which prepares them and starts this as an ordinary user.

Every row compares programs in this one run: they take turns within a round, so that a slow spell of
the machine hits all, and the row's figure is the ratio of their medians. CPU is what the whole
machine spent (busy ticks of /proc/stat): workers of the kernel that tear a namespace down are in no
process's own time.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time

ALL_NAMESPACES = "--unshare-all --die-with-parent --cap-drop ALL"
IN_TURN_RUNS = 20  # of one program before it is the next one's turn


def run(command, **options):
    return subprocess.run(shlex.split(command), check=True, capture_output=True, text=True, **options)


def busy_ms():
    """CPU time that the machine has spent since boot, in milliseconds."""
    fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _idle, _iowait, irq, softirq = map(int, fields[:7])
    return (user + nice + system + irq + softirq) * 1000 / os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, arguments):
        self.root, self.memory = arguments.root, arguments.memory
        self.rounds = 1 if arguments.quick else 6
        self.quick, self.words = arguments.quick, arguments.rows
        self.plimsoll = f"{self.root}/build/release/plimsoll --store {self.memory}/store"
        self.program = self.root / "build/release/plimsoll"
        self.filter = self.root / "build/release/generated/default.bpf"
        self.floor = f"{self.root}/build/bench/floor {self.filter}"
        self.rows = []

    # ---- the things that are compared ----

    def exec(self, rest, record="--no-record"):
        """Peers sign nothing, so that their rows compare runs without a record."""
        return f"{self.program} exec --store {self.memory}/store {record} {rest}"

    def bubblewrap(self, tree, command, program=None):
        """With the filter that its users have, which libseccomp exports, or another program."""
        program = program or f"{self.root}/build/bench/libseccomp.bpf"
        return (f"{self.root}/build/bench/with_fd 10 {program} bwrap {ALL_NAMESPACES} --ro-bind {tree} / "
                f"--proc /proc --dev /dev --tmpfs /tmp --seccomp 10 {command}")

    def tree(self, flags):
        """The image's merged tree in the store, which the plan binds as the root."""
        plan = run(f"{self.program} plan --store {self.memory}/store {flags} -- true").stdout
        found = re.search(re.escape(f"{self.memory}/store/") + r"[^\s'\"]+", plan)
        if not found:
            raise SystemExit("bench: the plan does not name the root in the store:\n" + plan)
        return found.group()

    # ---- how they are measured ----

    def wanted(self, name):
        return not self.words or any(word in name for word in self.words)

    def in_turn(self, commands):
        """Runs each command many times; returns {name: {"ms": median, "cpu_ms": mean, ...}}."""
        times = {name: [] for name in commands}
        busy = dict.fromkeys(commands, 0.0)
        export = f"{self.memory}/hyperfine.json"
        for _ in range(self.rounds):
            for name, command in commands.items():
                time.sleep(0.2)  # so that what the last one left to the kernel is over
                before = busy_ms()
                run(f"hyperfine -N --style none --warmup 3 --runs {IN_TURN_RUNS} "
                    f"--export-json {export} {shlex.quote(command)}")
                time.sleep(0.2)
                busy[name] += busy_ms() - before
                times[name] += json.loads(pathlib.Path(export).read_text())["results"][0]["times"]
        return {name: {"command": commands[name], "ms": statistics.median(values) * 1000,
                       "min_ms": min(values) * 1000, "runs": len(values),
                       "cpu_ms": busy[name] / (len(values) + 3 * self.rounds)}
                for name, values in times.items()}

    def row(self, name, ours, theirs, figure, target, details, at_least=False):
        """`figure` is judged: the ratio of ours to theirs, or ours alone where there is no peer.
        Without a target the row is for information."""
        met = None if target is None else figure >= target if at_least else figure <= target
        goal = "" if target is None else f"{'>=' if at_least else '<='} {target}"
        self.rows.append({"name": name, "plimsoll": ours, "peer": theirs, "figure": round(figure, 3),
                          "target": goal, "met": met, "details": details})
        print(f"{name:<44} {ours:>10} {theirs:>10} {f'{figure:.2f}' if theirs else '':>6}  {goal:<8} "
              f"{ {None: '', True: 'yes', False: 'NO'}[met]}".rstrip(), flush=True)

    def ratio_row(self, name, result, ours, theirs, target=None, key="ms"):
        ratio = result[ours][key] / result[theirs][key]
        self.row(name, f"{result[ours][key]:.2f} ms", f"{result[theirs][key]:.2f} ms", ratio, target,
                 {ours: result[ours], theirs: result[theirs]})

    # ---- the rows ----

    def start(self):
        if not self.wanted("start"):
            return
        tree = self.tree("")
        result = self.in_turn({"plimsoll": self.exec("-- true"), "bubblewrap": self.bubblewrap(tree, "/bin/true"),
                               "our filter": self.bubblewrap(tree, "/bin/true", self.filter),
                               "floor": f"{self.floor} {tree} /bin/true"})
        self.ratio_row("start of true: bubblewrap", result, "plimsoll", "bubblewrap", 0.8)
        self.ratio_row("start of true: floor", result, "plimsoll", "floor", 1.4)
        self.ratio_row("start of true: bubblewrap, our filter", result, "plimsoll", "our filter")
        self.ratio_row("start of true, machine's CPU: bubblewrap", result, "plimsoll", "bubblewrap", key="cpu_ms")
        self.ratio_row("start of true, machine's CPU: floor", result, "plimsoll", "floor", key="cpu_ms")

    def record(self):
        if not self.wanted("record"):
            return
        flags = f"--record {self.memory}/records.jsonl --key {self.memory}/bench.key"
        run(f"{self.program} keygen {self.memory}/bench.key")
        result = self.in_turn({"with": self.exec("-- true", flags), "without": self.exec("-- true")})
        added = result["with"]["ms"] - result["without"]["ms"]
        self.row("record: adds to true", f"{added:.2f} ms", "", added, 0.5, result)
        verify = f"{self.program} verify --pub {self.memory}/bench.pub {self.memory}/records.jsonl"
        lines = int(run(verify).stdout.split()[0])
        taken = self.in_turn({"verify": verify})["verify"]["ms"]
        openssl = run("openssl speed -seconds 1 ed25519").stdout.split()
        peer = float(openssl[-1]) * os.cpu_count()
        ours = lines / taken * 1000
        self.row("record: lines verified, openssl's speed", f"{ours:.0f}/s", f"{peer:.0f}/s", ours / peer,
                 0.6, {"lines": lines, "ms": taken}, at_least=True)

    def image_size(self):
        if not self.wanted("image"):
            return
        # The same static program in both images: what is compared is the image, not the program.
        volume = f"-v {self.root}/build/bench/true:/tmp/true"
        result = self.in_turn({"python image": self.exec(f"--image python {volume} -- /tmp/true"),
                               "base image": self.exec(f"{volume} -- /tmp/true")})
        self.ratio_row("image size: true in python, in base", result, "python image", "base image", 1.1)
        tree = self.tree("--image python")
        result = self.in_turn({"plimsoll": self.exec("--image python -- python3 -c 1"),
                               "floor": f"{self.floor} {tree} /usr/bin/python3 -c 1",
                               "bubblewrap": self.bubblewrap(tree, "/usr/bin/python3 -c 1")})
        self.ratio_row("image python3 -c 1: floor", result, "plimsoll", "floor", 1.15)
        self.ratio_row("image python3 -c 1: bubblewrap", result, "plimsoll", "bubblewrap")

    def throughput(self):
        if not self.wanted("throughput"):
            return
        runs = 40 if self.quick else 200
        tree = self.tree("")
        commands = {"plimsoll": self.exec("-- true"), "bubblewrap": self.bubblewrap(tree, "/bin/true")}
        rates = {name: [] for name in commands}
        for _ in range(self.rounds):
            for name, command in commands.items():
                time.sleep(0.3)
                begin = time.monotonic()
                run(f"xargs -P 2 -I% {command}", input="\n".join(map(str, range(runs))))
                rates[name].append(runs / (time.monotonic() - begin))
        ours, theirs = (statistics.median(rates[name]) for name in commands)
        self.row("throughput: 200 runs, two at a time", f"{ours:.0f}/s", f"{theirs:.0f}/s", ours / theirs,
                 1.5, rates, at_least=True)

    def memory_row(self):
        if not self.wanted("memory"):
            return
        process = subprocess.Popen(shlex.split(self.exec("-- sleep 1")))
        time.sleep(0.7)
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        process.wait()
        mib = int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE).group(1)) / 1024
        self.row("memory: runner's own peak (VmHWM)", f"{mib:.1f} MiB", "", mib, 12, {"status": status})

    def output(self):
        if not self.wanted("output"):
            return
        sizes = 1 << 30
        guest = "dd if=/dev/zero bs=65536 count=16384"
        rates = []
        for _ in range(2 if self.quick else 5):
            begin = time.monotonic()
            command = f"{self.exec(f'-- {guest}')} 2>{self.memory}/dd | wc -c"
            counted = subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True).stdout
            rates.append(sizes / (time.monotonic() - begin) / 1e9)
            if int(counted) != sizes:
                raise SystemExit(f"bench: {counted} of {sizes} bytes came through\n"
                                 + pathlib.Path(f"{self.memory}/dd").read_text())
        rate = statistics.median(rates)
        self.row("output: 1 GiB to wc -c", f"{rate:.2f} GB/s", "", rate, 0.7, {"GB/s": rates}, at_least=True)

    def unpack(self):
        if not self.wanted("import"):
            return
        for image in ("python", "node"):
            blobs = self.root / f"build/images/{image}/blobs/sha256"
            layer = max(blobs.iterdir(), key=lambda path: path.stat().st_size)
            out = self.memory / "out"
            commands = {
                "plimsoll": f"{self.program} image import --store {out} --quiet oci:{self.root}/build/images/{image}",
                "tar": f"tar xzf {layer} -C {out}"}
            seconds, peak = {name: [] for name in commands}, 0.0
            for _ in range(3 if self.quick else 9):
                for name, command in commands.items():
                    out.mkdir()
                    begin = time.monotonic()
                    ended = run(f"/usr/bin/time -f %M {command}")
                    seconds[name].append(time.monotonic() - begin)
                    if name == "plimsoll":
                        peak = max(peak, int(ended.stderr.split()[-1]) / 1024)
                    subprocess.run(["chmod", "-R", "u+rwx", out], check=True)
                    shutil.rmtree(out)
            ours, theirs = (statistics.median(seconds[name]) for name in commands)
            self.row(f"import of a gzip layer, {image}: tar xzf", f"{ours:.2f} s", f"{theirs:.2f} s", ours / theirs,
                     0.8, {"seconds": seconds, "layer_bytes": layer.stat().st_size})
            self.row(f"import, {image}: peak memory", f"{peak:.1f} MiB", "", peak, 32, {})

    def load(self):
        """Loading the ready program of the default policy, as a guest does."""
        if not self.wanted("filter load"):
            return
        ours, theirs = (float(run(f"{self.root}/build/bench/filter_load {file}").stdout)
                        for file in (self.filter, f"{self.root}/build/bench/libseccomp.bpf"))
        self.row("filter load: libseccomp's of the same list", f"{ours:.0f} us", f"{theirs:.0f} us", ours / theirs,
                 None, {})
        self.row("filter load, microseconds", f"{ours:.0f} us", "", ours, 100, {})

    def system_calls(self):
        """What a system call costs behind the filter alone, and inside a guest, against without."""
        if not self.wanted("system call"):
            return
        program = f"{self.root}/build/bench/syscall_cost"
        flags = "--benchmark_format=json --benchmark_repetitions=9 --benchmark_report_aggregates_only=true"
        # Google Benchmark comes as a shared library, which the guest sees with the rest of the host's.
        volume = f"-v {program}:/tmp/syscall_cost -v /usr/lib:/lib -v /usr/lib64:/lib64"
        commands = {"bare": f"{program} {flags}", "filter": f"{program} --filter {self.filter} {flags}",
                    "guest": self.exec(f"{volume} -- /tmp/syscall_cost {flags}")}
        costs = {name: self.medians(command) for name, command in commands.items()}
        for call, bare in costs["bare"].items():
            for where, what in (("filter", "behind the filter"), ("guest", "in a guest")):
                ours = costs[where][call]
                self.row(f"system call {call}, {what}: bare", f"{ours:.0f} ns", f"{bare:.0f} ns", ours / bare, None, {})

    @staticmethod
    def medians(command):
        rows = json.loads(run(command).stdout)["benchmarks"]
        return {row["run_name"]: row["real_time"] for row in rows if row["aggregate_name"] == "median"}

    def libraries(self):
        if not self.wanted("libraries"):
            return
        lines = run(f"ldd {self.program}").stdout.splitlines()
        names = [line.split()[0] for line in lines if not re.search("linux-vdso|statically linked", line)]
        others = [name for name in names if not re.search(r"(^|/)(libc\.so|ld-linux)", name)]
        self.row("libraries besides libc and the loader", str(len(others)), "", len(others), 0, {"ldd": lines})


def machine():
    cpu = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {"kernel": os.uname().release, "cpu": cpu.group(1) if cpu else "", "cpus": os.cpu_count(),
            "uid": os.getuid(), "bubblewrap": run("bwrap --version").stdout.strip(),
            "hyperfine": run("hyperfine --version").stdout.strip()}


def main():
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--memory", type=pathlib.Path, required=True)
    parser.add_argument("--json", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("rows", nargs="*")
    bench = Bench(parser.parse_args())

    for image in ("python", "node"):
        run(f"{bench.program} image import --store {bench.memory}/store --quiet oci:{bench.root}/build/images/{image}")
    for image in ("", "--image python"):
        run(bench.exec(f"{image} -- true"))  # the first run of an image makes its tree
    print(f"{'what':<44} {'plimsoll':>10} {'peer':>10} {'ratio':>6}  target   met")
    for measure in (bench.start, bench.record, bench.image_size, bench.throughput, bench.memory_row, bench.output,
                    bench.unpack, bench.load, bench.system_calls, bench.libraries):
        measure()
    document = {"machine": machine(), "program_sha256": hashlib.sha256(bench.program.read_bytes()).hexdigest(),
                "rows": bench.rows}
    pathlib.Path(f"{bench.memory}/bench.json").write_text(json.dumps(document, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
