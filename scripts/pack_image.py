"""Packs a root file system, a tar on standard input, as an OCI layout with one image of one layer.

The layer has no names of users, no times after --epoch and nothing that a running machine left
behind (logs, caches, package lists, device nodes), so that the same packages give the same bytes.
The order of the entries is the input's. Used by make-image. Source: OCI image specification 1.0.
"""
import argparse
import gzip
import hashlib
import json
import pathlib
import re
import sys
import tarfile
import time

# Not part of an image: what belongs to one machine, and what an installation leaves behind.
LEFT_OUT = re.compile(
    r"(dev|proc|sys|run|tmp|var/log|var/cache|var/tmp|var/lib/apt)/.+"
    r"|etc/(hostname|resolv\.conf|machine-id|\.pwd\.lock|(passwd|group|shadow|gshadow)-)"
    r"|var/lib/dpkg/(.+-old|lock.*|triggers/Lock)|var/lib/(systemd|dbus)/.*")


class Hashing:
    """A file to write to that also counts and hashes what went through."""

    def __init__(self, target):
        self.target, self.sha256, self.size = target, hashlib.sha256(), 0

    def write(self, data):
        self.sha256.update(data)
        self.size += len(data)
        return self.target.write(data)

    def flush(self):
        self.target.flush()

    def digest(self):
        return "sha256:" + self.sha256.hexdigest()


def copy_entries(source, target, epoch):
    """Copies the entries that belong to an image; returns their number."""
    count = 0
    for entry in source:
        entry.name = entry.name.removeprefix("./").rstrip("/")
        if entry.name in ("", ".") or LEFT_OUT.fullmatch(entry.name):
            continue
        if entry.islnk():
            entry.linkname = entry.linkname.removeprefix("./")
        entry.uname = entry.gname = ""
        entry.mtime = min(int(entry.mtime), epoch)
        entry.pax_headers = {}
        target.addfile(entry, source.extractfile(entry) if entry.isreg() else None)
        count += 1
    return count


class Layout:
    """An OCI layout folder that is being written."""

    def __init__(self, folder):
        self.folder = folder
        self.blobs = folder / "blobs" / "sha256"
        self.blobs.mkdir(parents=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')

    def add_layer(self, source, epoch):
        """Returns the layer's descriptor and its DiffID."""
        part = self.blobs / "part"
        with part.open("wb") as file:
            packed = Hashing(file)
            with gzip.GzipFile("", "wb", 6, packed, mtime=0) as zipped:
                plain = Hashing(zipped)
                with tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as target:
                    count = copy_entries(source, target, epoch)
        if count == 0:
            raise SystemExit("pack_image: the tar on standard input has no entry for an image")
        part.rename(self.blobs / packed.digest().removeprefix("sha256:"))
        media_type = "application/vnd.oci.image.layer.v1.tar+gzip"
        return {"mediaType": media_type, "digest": packed.digest(), "size": packed.size}, plain.digest()

    def add_json(self, kind, value):
        data = json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
        digest = hashlib.sha256(data).hexdigest()
        (self.blobs / digest).write_bytes(data)
        media_type = f"application/vnd.oci.image.{kind}.v1+json"
        return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(data)}

    def finish(self, manifest, name):
        name, _, tag = name.partition(":")
        tag = tag or "latest"
        manifest["annotations"] = {"org.opencontainers.image.ref.name": tag,
                                   "io.containerd.image.name": f"{name}:{tag}"}
        manifest["platform"] = {"architecture": "amd64", "os": "linux"}
        index = {"schemaVersion": 2, "manifests": [manifest]}
        (self.folder / "index.json").write_text(json.dumps(index, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("--cmd", required=True)
    parser.add_argument("--env", action="append", default=[])
    arguments = parser.parse_args()

    layout = Layout(arguments.out)
    try:
        with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as source:
            layer, diff_id = layout.add_layer(source, arguments.epoch)
    except tarfile.ReadError as error:
        raise SystemExit(f"pack_image: standard input is no whole tar: {error}") from error
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(arguments.epoch))
    path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    config = layout.add_json("config", {
        "architecture": "amd64", "os": "linux", "created": created,
        "config": {"Env": [path, *arguments.env], "Cmd": [arguments.cmd]},
        "rootfs": {"type": "layers", "diff_ids": [diff_id]},
        "history": [{"created": created, "created_by": "plimsoll scripts/make-image"}],
    })
    manifest = layout.add_json("manifest", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config, "layers": [layer]})
    layout.finish(manifest, arguments.name)


if __name__ == "__main__":
    main()
