#include "image/merge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"
#include "image/entry_path.h"
#include "image/limits.h"
#include "image/link_or_copy.h"
#include "image/skeleton.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::uint64_t kBeneath = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
constexpr std::uint64_t kInRoot = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

std::string Join(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

// One merge: the tree as it stands after the layers so far.
class Merger {
 public:
  Merger(int tree, int links) : tree_(tree), links_(links) {}

  Result<void> Add(const MergeLayer& layer) {
    const LayerFacts& facts = layer.facts;
    implied_ = {facts.implied.begin(), facts.implied.end()};
    PLIMSOLL_TRY(StageLinks(facts));
    for (const std::string& path : facts.whiteouts)
      PLIMSOLL_TRY(Hide(path));
    for (const std::string& path : facts.opaque)
      PLIMSOLL_TRY(Empty(path));
    PLIMSOLL_TRY(AddDirectory(layer.root.Get(), tree_, ""));
    return PlaceLinks(facts);
  }

  // Sets modes and times, children before parents: adding an entry changes a directory's time.
  Result<void> Finish() {
    for (auto it = directories_.rbegin(); it != directories_.rend(); ++it) {
      const auto& [path, status] = *it;
      const auto fd = sys::OpenBeneath(tree_, path.empty() ? "." : path, kOpenDirectory, kBeneath);
      if (!fd) continue;  // a higher layer or the skeleton took its place
      const std::array<timespec, 2> times = {status.st_atim, status.st_mtim};
      if (::fchmod(fd->Get(), status.st_mode & 01777U) != 0 ||
          ::futimens(fd->Get(), times.data()) != 0) {
        return sys::ErrnoError("set the mode and time of " + Quote(path));
      }
    }
    return {};
  }

 private:
  // The links' targets are named before anything of this layer changes the tree: a whiteout of the
  // same layer may be about to remove the very name that is linked to.
  Result<void> StageLinks(const LayerFacts& facts) {
    for (std::size_t at = 0; at < facts.links.size(); ++at) {
      const auto& [path, target] = facts.links[at];
      const std::string parent(ParentOf(target));
      const auto dir =
          sys::OpenBeneath(tree_, parent.empty() ? "." : parent, O_PATH | O_DIRECTORY, kBeneath);
      auto linked =
          dir ? LinkOrCopy({dir->Get(), std::string(NameOf(target))}, {links_, std::to_string(at)})
              : Result<void>(dir.error());
      if (linked) continue;
      return Error{.kind = ErrorKind::kEnvironment,
                   .what = "entry " + Quote(path) + " is a hard link to " + Quote(target) +
                           ", which is no file of the layers below",
                   .sys_errno = linked.error().sys_errno};
    }
    return {};
  }

  Result<void> PlaceLinks(const LayerFacts& facts) {
    for (std::size_t at = 0; at < facts.links.size(); ++at) {
      const std::string& path = facts.links[at].first;
      const std::string parent(ParentOf(path));
      const std::string name(NameOf(path));
      PLIMSOLL_TRY_ASSIGN(
          const sys::UniqueFd dir,
          sys::OpenBeneath(tree_, parent.empty() ? "." : parent, O_PATH | O_DIRECTORY, kInRoot));
      PLIMSOLL_TRY(sys::RemoveTree(dir.Get(), name));
      if (::renameat(links_, std::to_string(at).c_str(), dir.Get(), name.c_str()) != 0) {
        return sys::ErrnoError("link " + Quote(path));
      }
    }
    return {};
  }

  // A whiteout: removes the name itself, never what it points to. A name that is not there is no
  // error: some tools write whiteouts for what the layer below never had.
  Result<void> Hide(const std::string& path) {
    const std::string parent(ParentOf(path));
    const auto dir =
        sys::OpenBeneath(tree_, parent.empty() ? "." : parent, O_PATH | O_DIRECTORY, kInRoot);
    if (!dir) return {};
    directories_.erase(path);
    Forget(path);
    return sys::RemoveTree(dir->Get(), std::string(NameOf(path)));
  }

  // Drops what is known of the directories beneath `path`: "/" + 1 is "0".
  void Forget(const std::string& path) {
    directories_.erase(directories_.lower_bound(path.empty() ? "" : path + "/"),
                       path.empty() ? directories_.end() : directories_.lower_bound(path + "0"));
  }

  // An opaque directory: what the layers below have in it goes.
  Result<void> Empty(const std::string& path) {
    const auto dir = sys::OpenBeneath(tree_, path.empty() ? "." : path, kOpenDirectory, kInRoot);
    if (!dir) return {};
    Forget(path);
    PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> names, sys::ListDirectory(dir->Get(), path));
    for (const std::string& name : names)
      PLIMSOLL_TRY(sys::RemoveTree(dir->Get(), name));
    return {};
  }

  // Links everything in the layer's directory `from` into the tree's directory `to`.
  Result<void> AddDirectory(int from, int to, const std::string& path) {
    PLIMSOLL_TRY(NoteDirectory(from, path));
    PLIMSOLL_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries,
                        sys::ListEntries(from, path));
    for (const sys::DirectoryEntry& entry : entries) {
      const std::string child = Join(path, entry.name);
      if (entry.is_directory) {
        PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd below,
                            sys::OpenAt(from, entry.name, kOpenDirectory));
        PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd target, OpenTarget(to, entry.name, child));
        PLIMSOLL_TRY(AddDirectory(below.Get(), target.Get(), child));
      } else {
        PLIMSOLL_TRY(AddFile({from, entry.name}, {to, entry.name}));
      }
    }
    return {};
  }

  Result<void> NoteDirectory(int from, const std::string& path) {
    const bool known = directories_.count(path) != 0;
    if (known && implied_.count(path) != 0) return {};  // only a parent: the layers below decide
    PLIMSOLL_TRY_ASSIGN(directories_[path], sys::Stat(from, path));
    return {};
  }

  // The tree's directory for the layer's directory of the same path, made when it is missing and
  // in place of what is none.
  Result<sys::UniqueFd> OpenTarget(int to, const std::string& name, const std::string& path) {
    if (::mkdirat(to, name.c_str(), 0700) == 0) return sys::OpenAt(to, name, kOpenDirectory);
    if (errno != EEXIST) return sys::ErrnoError("mkdir " + Quote(path));
    auto there = sys::OpenAt(to, name, kOpenDirectory);
    if (there) return there;
    if (implied_.count(path) != 0) {
      auto resolved = sys::OpenBeneath(tree_, path, O_RDONLY | O_DIRECTORY, kInRoot);
      if (resolved) PLIMSOLL_TRY(CheckDepth(resolved->Get(), path));
      if (resolved) return resolved;
    }
    PLIMSOLL_TRY(sys::RemoveTree(to, name));
    if (::mkdirat(to, name.c_str(), 0700) != 0) return sys::ErrnoError("mkdir " + Quote(path));
    return sys::OpenAt(to, name, kOpenDirectory);
  }

  // By links that each layer adds, every layer could go deeper by the length of a name.
  Result<void> CheckDepth(int directory, const std::string& path) const {
    const std::size_t most = Limits{}.link_depth;
    const auto tree = PathOf(tree_);
    const auto found = PathOf(directory);
    const bool fits =
        tree && found && found->starts_with(*tree) &&
        static_cast<std::size_t>(std::count(
            found->begin() + static_cast<std::ptrdiff_t>(tree->size()), found->end(), '/')) <= most;
    if (fits) return {};
    return Error{.kind = ErrorKind::kCapacity,
                 .what = "directory " + Quote(path) +
                         " leads by symbolic links of other layers more than " +
                         std::to_string(most) + " directories deep"};
  }

  // Nothing where it is longer than the kernel tells.
  static std::optional<std::string> PathOf(int directory) {
    std::array<char, PATH_MAX> path = {};
    const std::string link = "/proc/self/fd/" + std::to_string(directory);
    const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
    if (size < 0 || static_cast<std::size_t>(size) == path.size()) return std::nullopt;
    return std::string(path.data(), static_cast<std::size_t>(size));
  }

  Result<void> AddFile(NameAt from, NameAt to) {
    auto linked = LinkOrCopy(from, to);
    if (linked || linked.error().sys_errno != EEXIST) return linked;
    PLIMSOLL_TRY(sys::RemoveTree(to.dir, to.name));
    return LinkOrCopy(from, to);
  }

  int tree_;
  int links_;
  std::set<std::string> implied_;                   // of the layer being added
  std::map<std::string, struct stat> directories_;  // mode and times to set at the end, by path
};

}  // namespace

Result<void> MergeLayers(const std::vector<MergeLayer>& layers, int work) {
  if (::mkdirat(work, "rootfs", 0700) != 0 || ::mkdirat(work, "links", 0700) != 0) {
    return sys::ErrnoError("mkdir in the merge's work directory");
  }
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd tree, sys::OpenAt(work, "rootfs", kOpenDirectory));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd links, sys::OpenAt(work, "links", kOpenDirectory));
  Merger merger(tree.Get(), links.Get());
  for (const MergeLayer& layer : layers) {
    auto added = merger.Add(layer);
    if (!added) return std::move(added).error().In("merge layer " + layer.name);
  }
  PLIMSOLL_TRY(merger.Finish());
  PLIMSOLL_TRY(AddSkeleton(tree.Get()));
  return sys::RemoveTree(work, "links");
}

}  // namespace plimsoll::image
