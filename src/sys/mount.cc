#include "sys/mount.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::sys {
namespace {

// A process that does nothing, in a user namespace of its own; killed and reaped with the object.
class NamespaceHolder {
 public:
  NamespaceHolder() {
    const pid_t maker = ::getpid();
    pid_ = static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    if (pid_ == 0) {
      // Dies with its maker, who may be killed while it is needed.
      (void)::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      if (::getppid() != maker) (void)::raise(SIGKILL);  // it was killed before that
      for (;;)
        ::pause();
    }
  }
  NamespaceHolder(const NamespaceHolder&) = delete;
  NamespaceHolder& operator=(const NamespaceHolder&) = delete;
  ~NamespaceHolder() {
    if (pid_ <= 0) return;
    (void)::kill(pid_, SIGKILL);  // our own child, not reaped before
    (void)::waitpid(pid_, nullptr, 0);
  }
  pid_t Pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

Result<void> WriteMap(pid_t pid, const char* file, std::uint32_t outside) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
  PLIMSOLL_TRY_ASSIGN(const UniqueFd fd, Open(path, O_WRONLY));
  return WriteAll(fd.Get(), "0 " + std::to_string(outside) + " 1\n", path);
}

}  // namespace

Result<UniqueFd> CloneMount(const std::string& path, bool recursive) {
  const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW |
                         AT_NO_AUTOMOUNT | (recursive ? unsigned{AT_RECURSIVE} : 0U);
  UniqueFd fd(::open_tree(AT_FDCWD, path.c_str(), flags));
  if (!fd.IsOpen()) return ErrnoError("open_tree " + Quote(path));
  return fd;
}

Result<void> ShowRootAs(const UniqueFd& mount, std::uint32_t uid, std::uint32_t gid) {
  const NamespaceHolder holder;
  if (holder.Pid() < 0) return ErrnoError("clone with a new user namespace");
  PLIMSOLL_TRY(WriteMap(holder.Pid(), "uid_map", uid));
  PLIMSOLL_TRY(WriteMap(holder.Pid(), "gid_map", gid));
  const std::string path = "/proc/" + std::to_string(holder.Pid()) + "/ns/user";
  PLIMSOLL_TRY_ASSIGN(const UniqueFd user_namespace, Open(path, O_RDONLY));
  struct mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<__u64>(user_namespace.Get());
  if (::mount_setattr(mount.Get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
    return ErrnoError("mount_setattr with an id mapping");
  }
  return {};
}

}  // namespace plimsoll::sys
