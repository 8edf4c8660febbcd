#include "image/tar_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include "base/text.h"

namespace plimsoll::image {
namespace {

struct FreeArchive {
  void operator()(archive* reader) const { (void)::archive_read_free(reader); }
};

la_ssize_t ReadBlock(archive* /*reader*/, void* source, const void** bytes) {
  const std::string_view block = (*static_cast<const BlockSource*>(source))();
  *bytes = block.data();
  return static_cast<la_ssize_t>(block.size());
}

EntryType TypeOf(archive_entry* entry) {
  if (::archive_entry_hardlink(entry) != nullptr) return EntryType::kHardlink;
  switch (::archive_entry_filetype(entry)) {
    case AE_IFREG:
      return EntryType::kFile;
    case AE_IFDIR:
      return EntryType::kDirectory;
    case AE_IFLNK:
      return EntryType::kSymlink;
    case AE_IFIFO:
      return EntryType::kFifo;
    case AE_IFBLK:
    case AE_IFCHR:
      return EntryType::kDevice;
    default:
      return EntryType::kOther;
  }
}

const char* OrEmpty(const char* text) {
  return text != nullptr ? text : "";
}

class ArchiveTarReader : public TarReader {
 public:
  explicit ArchiveTarReader(archive* reader) : reader_(reader) {}

  Result<void> Start(const BlockSource& source) {
    // By name and without filters: what is read here is decompressed already.
    if (::archive_read_support_format_tar(reader_.get()) != ARCHIVE_OK ||
        ::archive_read_support_format_empty(reader_.get()) != ARCHIVE_OK ||
        ::archive_read_open(reader_.get(), const_cast<BlockSource*>(&source), nullptr, &ReadBlock,
                            nullptr) != ARCHIVE_OK) {
      return Broken("open");
    }
    return {};
  }

  Result<bool> Next(TarEntry& entry) override {
    archive_entry* raw = nullptr;
    const int status = ::archive_read_next_header(reader_.get(), &raw);
    if (status == ARCHIVE_EOF) return false;
    // ARCHIVE_WARN says that a name is not in the locale's character set; names are bytes here.
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return Broken("read the next header");
    entry.type = TypeOf(raw);
    entry.path = OrEmpty(::archive_entry_pathname(raw));
    entry.link = entry.type == EntryType::kHardlink ? OrEmpty(::archive_entry_hardlink(raw))
                                                    : OrEmpty(::archive_entry_symlink(raw));
    entry.mode = ::archive_entry_perm(raw);
    entry.uid = ::archive_entry_uid(raw);
    entry.gid = ::archive_entry_gid(raw);
    entry.mtime_seconds = ::archive_entry_mtime(raw);
    entry.mtime_nanoseconds = ::archive_entry_mtime_nsec(raw);
    const la_int64_t size = ::archive_entry_size(raw);
    entry.size = size > 0 ? static_cast<std::uint64_t>(size) : 0;
    return true;
  }

  Result<bool> NextData(Data& data) override {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int status = ::archive_read_data_block(reader_.get(), &bytes, &size, &offset);
    if (status == ARCHIVE_EOF) return false;
    if (status != ARCHIVE_OK || offset < 0) return Broken("read the content");
    data = {.bytes = {static_cast<const char*>(bytes), size},
            .offset = static_cast<std::uint64_t>(offset)};
    return true;
  }

 private:
  Error Broken(std::string_view operation) const {
    return Error{.kind = ErrorKind::kProtocol,
                 .what = "the tar stream is broken: " + std::string(operation) + ": " +
                         OrEmpty(::archive_error_string(reader_.get()))};
  }

  std::unique_ptr<archive, FreeArchive> reader_;
};

}  // namespace

Result<std::unique_ptr<TarReader>> TarReader::Open(const BlockSource& source) {
  auto reader = std::make_unique<ArchiveTarReader>(::archive_read_new());
  PLIMSOLL_TRY(reader->Start(source));
  return std::unique_ptr<TarReader>(std::move(reader));
}

}  // namespace plimsoll::image
