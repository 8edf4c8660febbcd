#!/usr/bin/env python3
"""A second implementation of the digests, from plimsoll-record(5) alone and with nothing but python's
standard library, against random runs: what the program has signed has to come out here.

Usage: digests.py PLIMSOLL [--runs N] [--seed N]
"""
import base64
import hashlib
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile


class Encoder:
    def __init__(self, domain):
        self.hash = hashlib.sha256()
        self.value(domain.encode())

    def value(self, content):
        self.hash.update(len(content).to_bytes(8, "big") + content)

    def add(self, name, content):
        if isinstance(content, bool):
            content = "true" if content else "false"
        if isinstance(content, int):
            content = str(content)
        if isinstance(content, str):
            content = content.encode()
        self.value(name.encode())
        self.value(content)

    def group(self, group, items, *names):
        self.add(group, len(items))
        for item in items:
            for name, content in zip(names, item):
                self.add(name, content)

    def hex(self):
        return self.hash.hexdigest()


def content(value):
    return base64.b64decode(value["base64"]) if "base64" in value else value["text"].encode()


def word(value):
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()


def in_bytes(value, name):
    encoded = value.get(name + "_base64")
    return base64.b64decode(encoded) if encoded else value[name].encode()


def quoted(argument):
    """A word in single quotes, whatever it is."""
    return b"'" + argument.replace(b"'", b"'\\''") + b"'"


def command(step):
    if isinstance(step, dict) and "argv" in step:
        return b" ".join(quoted(word(argument)) for argument in step["argv"])
    text = word(step)
    return (b" " if text.lstrip(b" ").startswith(b"'") else b"") + text


def request_digest(request):
    project = request["project"]
    encoder = Encoder("plimsoll.run-request.v2")
    encoder.add("protocol", request["protocol"])
    encoder.add("minimum_isolation", request["minimum_isolation"])
    encoder.add("timeout_ms", request["timeout_ms"])
    encoder.add("software_mode", request["software_rule"]["mode"])
    encoder.group("software_identities",
                  [(identity,) for identity in request["software_rule"]["identities"]],
                  "software_identity")
    encoder.add("kind", "project")
    encoder.add("grant_profile", ",".join(project["grant_profile"]))
    encoder.group("files", [(file["path"], content(file)) for file in project["files"]],
                  "file_path", "file_content")
    encoder.group("steps", [(command(step),) for step in project["steps"]], "step_command")
    encoder.group("artifacts", [(path,) for path in project["artifacts"]], "artifact_path")
    return encoder.hex()


OUTCOMES = {"completed": 1, "setup_failed": 2, "timed_out": 3, "protocol_error": 4}


def result_digest(response):
    project = response["project"]
    encoder = Encoder("plimsoll.run-result.v1")
    encoder.add("kind", "project")
    encoder.add("outcome", OUTCOMES[project["outcome"]])
    encoder.add("outcome_detail", project["outcome_detail"])
    encoder.add("artifacts_truncated", project["artifacts_truncated"])
    encoder.group("steps", [
        (in_bytes(step, "command"), step["exit_code"], step["timed_out"], content(step["stdout"]), content(step["stderr"]),
         step["stdout"]["truncated"], step["stderr"]["truncated"]) for step in project["steps"]],
        "step_command", "step_exit_code", "step_timed_out", "step_stdout", "step_stderr",
        "step_stdout_truncated", "step_stderr_truncated")
    encoder.group("artifacts", [(in_bytes(file, "path"), content(file)) for file in project["artifacts"]],
                  "artifact_path", "artifact_content")
    return encoder.hex()


RECORD_FIELDS = ("request_sha256", "result_sha256", "provider", "isolation", "environment", "policy",
                 "software_identity", "software_rule_id", "started_unix_ms", "ended_unix_ms",
                 "session", "sequence", "previous_sha256")


def record_digest(predicate):
    encoder = Encoder("plimsoll.run-record.v2")
    for name in RECORD_FIELDS:
        encoder.add(name, predicate[name])
    return encoder.hex()


def problems_of(text):
    """What of one line does not come out."""
    line = json.loads(text)
    statement = json.loads(base64.b64decode(line["envelope"]["payload"]))
    predicate = statement["predicate"]
    canonical = {name: json.dumps(line[name], ensure_ascii=False, separators=(",", ":"))
                 for name in ("request", "response", "plan")}
    found = {
        "request_sha256": request_digest(line["request"]),
        "result_sha256": result_digest(line["response"]),
        "record_sha256": record_digest(predicate),
        "request_line_sha256": hashlib.sha256(canonical["request"].encode()).hexdigest(),
    }
    problems = [f"{name}: signed {predicate[name]}, worked out {digest}"
                for name, digest in found.items() if predicate[name] != digest]
    if statement["subject"] != [{"name": "run-record",
                                 "digest": {"sha256": found["record_sha256"]}}]:
        problems.append("the subject is not the record")
    return problems


def random_text(random_source):
    alphabet = ["a", "B", "7", " ", "'", '"', "\\", "\n", "\t", "$", "*", "é", "漢", "🐎", "\x01", "-"]
    return "".join(random_source.choice(alphabet) for _ in range(random_source.randrange(12)))


def random_flags(random_source):
    flags = []
    if random_source.random() < 0.3:
        flags += ["--timeout", str(random_source.randrange(5, 99))]
    if random_source.random() < 0.3:
        flags += ["--floor", random_source.choice(["process", "container", "vm"])]
    if random_source.random() < 0.3:
        flags += ["--output-limit", str(random_source.randrange(8))]
    if random_source.random() < 0.3:
        flags += ["-e", "X=" + random_text(random_source)]
    return flags


def main(arguments):
    plimsoll = os.path.abspath(arguments[0])
    runs = int(arguments[arguments.index("--runs") + 1]) if "--runs" in arguments else 60
    seed = int(arguments[arguments.index("--seed") + 1]) if "--seed" in arguments else 1
    random_source = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="plimsoll-digests-") as folder:
        environment = {"HOME": folder, "PATH": "/usr/bin:/bin"}
        bundle = os.path.join(folder, "bundle.jsonl")
        for _ in range(runs):
            script = random_source.choice([
                'printf %s "$@"', 'printf %s "$@" >&2; exit 3', "head -c 40 /dev/urandom",
                "kill -9 $$", "exit 7"])
            words = [random_text(random_source) for _ in range(random_source.randrange(4))]
            subprocess.run([plimsoll, "exec", "--record", bundle, *random_flags(random_source), "--",
                            "sh", "-c", script, "sh", *words],
                           env=environment, capture_output=True, check=False)
        with open(bundle, encoding="utf-8", newline="\n") as file:
            lines = file.read().split("\n")[:-1]
    if len(lines) != runs:
        print(f"{runs} runs have left {len(lines)} lines", file=sys.stderr)
        return 1
    status = 0
    for number, text in enumerate(lines, 1):
        for problem in problems_of(text):
            print(f"line {number} (seed {seed}): {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
