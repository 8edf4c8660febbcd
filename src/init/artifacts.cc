// What the guest has made, read when no process of it is left: by init, which has no capability any
// more and whose root is the guest's, so that it can read what the guest could and nothing else.

#include <asm/errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "init/steps.h"
#include "init/syscall.h"

namespace plimsoll::init {
namespace {

constexpr uint32_t kFileType = 0170000;
constexpr uint32_t kRegular = 0100000;

struct PartBuffer {
  ArtifactPart part;
  unsigned char bytes[kMaxPartBytes];
};

// The runner has ended when this fails, and then so do we.
void Write(long fd, const void* bytes, uint64_t size) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  while (size > 0) {
    const long count = Syscall(__NR_write, fd, from, size);
    if (count == -EINTR) continue;
    if (count <= 0) Exit(0);
    from += count;
    size -= static_cast<uint64_t>(count);
  }
}

// The regular file `path` below `folder`, or a negative errno. Never through a link, which the
// guest may have made; and never waiting for the other side of a fifo.
long OpenArtifact(const char* folder, const char* path) {
  struct open_how how = {};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long directory = Syscall(__NR_openat2, AT_FDCWD, folder, &how, sizeof how);
  if (directory < 0) return directory;
  how.flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long file = Syscall(__NR_openat2, directory, path, &how, sizeof how);
  Syscall(__NR_close, directory);
  return file;
}

// 0, or why the file is not to be read.
int Judge(long file, uint64_t most) {
  struct statx status = {};
  const long result =
      Syscall(__NR_statx, file, "", 0x1000 /* AT_EMPTY_PATH */, STATX_TYPE | STATX_SIZE, &status);
  if (result < 0) return static_cast<int>(-result);
  if ((status.stx_mode & kFileType) != kRegular) return EMEDIUMTYPE;
  return status.stx_size > most ? EFBIG : 0;
}

// The file's content as parts; 0 or an errno. What a volume's host makes of it meanwhile can be
// longer than it was a moment ago.
int SendContent(long file, uint64_t most, uint32_t index, long out) {
  static PartBuffer buffer;
  for (;;) {
    const long count = Syscall(__NR_read, file, &buffer.bytes[0], kMaxPartBytes);
    if (count == -EINTR) continue;
    if (count < 0) return static_cast<int>(-count);
    if (count == 0) return 0;
    if (static_cast<uint64_t>(count) > most) return EFBIG;
    most -= static_cast<uint64_t>(count);
    buffer.part = {index, static_cast<uint32_t>(count), 0};
    Write(out, &buffer, sizeof buffer.part + static_cast<uint64_t>(count));
  }
}

}  // namespace

void SendArtifact(const PlanView& plan, const Step& step, uint32_t index) {
  const long out = static_cast<long>(step.number[1]);
  const long file = OpenArtifact(plan.Text(step, 1), plan.Text(step, 0));
  int error = file < 0 ? static_cast<int>(-file) : Judge(file, step.number[0]);
  if (error == 0) error = SendContent(file, step.number[0], index, out);
  if (file >= 0) Syscall(__NR_close, file);
  const ArtifactPart end = {index, 0, static_cast<uint32_t>(error)};
  Write(out, &end, sizeof end);
}

}  // namespace plimsoll::init
