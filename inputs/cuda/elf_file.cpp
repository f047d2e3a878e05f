#include "inputs/cuda/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/engine/error.hpp"

namespace atl::cuda {
namespace {

template <typename T> std::vector<T> table(Bytes in) {
  std::vector<T> out(in.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), in.data(), out.size() * sizeof(T));
  return out;
}

Bytes part(Bytes file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) return {};
  return file.subspan(offset, size);
}

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw IoError(path, std::string("cannot be read (") + std::strerror(errno) + ")");
  struct stat status {};
  const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  const auto size = regular ? static_cast<std::size_t>(status.st_size) : 0;
  void* at = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (at == MAP_FAILED) return std::nullopt;

  ElfFile out;
  out.mapping_ = std::shared_ptr<const void>(at, [size](void* p) { munmap(p, size); });
  const Bytes file(static_cast<const std::uint8_t*>(at), size);
  Elf64_Ehdr header{};
  if (size < sizeof header) return std::nullopt;
  std::memcpy(&header, at, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64)
    return std::nullopt;
  for (const Elf64_Phdr& p :
       table<Elf64_Phdr>(part(file, header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr))))
    out.has_loader_ |= p.p_type == PT_INTERP;
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return out;
  const auto headers = table<Elf64_Shdr>(part(file, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
  for (const Elf64_Shdr& s : headers)
    out.sections_.push_back({{}, s.sh_link, s.sh_type == SHT_NOBITS ? Bytes{} : part(file, s.sh_offset, s.sh_size)});
  if (header.e_shstrndx >= headers.size()) return out;
  for (std::size_t i = 0; i < headers.size(); ++i)
    out.sections_[i].name = out.text(out.sections_[header.e_shstrndx], headers[i].sh_name);
  return out;
}

const ElfFile::Section* ElfFile::find(std::string_view name) const {
  for (const Section& s : sections_)
    if (s.name == name) return &s;
  return nullptr;
}

std::string_view ElfFile::text(const Section& strings, std::uint64_t offset) const {
  if (offset >= strings.content.size()) return {};
  const char* begin = reinterpret_cast<const char*>(strings.content.data()) + offset;
  return {begin, strnlen(begin, strings.content.size() - offset)};
}

Bytes ElfFile::section(std::string_view name) const {
  const Section* s = find(name);
  return s ? s->content : Bytes{};
}

std::vector<std::string> ElfFile::needed() const {
  std::vector<std::string> out;
  const Section* dynamic = find(".dynamic");
  if (!dynamic || dynamic->link >= sections_.size()) return out;
  for (const Elf64_Dyn& entry : table<Elf64_Dyn>(dynamic->content))
    if (entry.d_tag == DT_NEEDED) out.emplace_back(text(sections_[dynamic->link], entry.d_un.d_val));
  return out;
}

std::vector<ElfFile::Function> ElfFile::functions() const {
  std::vector<Function> out;
  const Section* symbols = find(".symtab");
  if (!symbols || symbols->link >= sections_.size()) return out;
  for (const Elf64_Sym& s : table<Elf64_Sym>(symbols->content))
    if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF)
      out.push_back({text(sections_[symbols->link], s.st_name), s.st_value, s.st_size});
  return out;
}

}  // namespace atl::cuda
