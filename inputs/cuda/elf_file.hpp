#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/cuda/decompress.hpp"

namespace atl::cuda {

/// What the recorder must know of a program before it runs: its sections, the libraries it asks for, its functions.
class ElfFile {
 public:
  struct Function {
    std::string_view name;
    std::uint64_t address = 0;  ///< before relocation
    std::uint64_t size = 0;
  };

  /// Nothing: the file is no 64-bit x86 ELF file (a script, say). Throws IoError when it cannot be read.
  static std::optional<ElfFile> open(const std::string& path);

  /// Empty: the file has no such section.
  Bytes section(std::string_view name) const;
  /// Sonames of the libraries that it is linked with.
  std::vector<std::string> needed() const;
  /// All functions of the symbol table, local ones too. Empty: the file is stripped.
  std::vector<Function> functions() const;
  /// A dynamic loader starts it: it is not linked statically.
  bool has_loader() const { return has_loader_; }

 private:
  struct Section {
    std::string_view name;
    std::uint32_t link = 0;
    Bytes content;
  };
  ElfFile() = default;
  const Section* find(std::string_view name) const;
  std::string_view text(const Section& strings, std::uint64_t offset) const;

  std::shared_ptr<const void> mapping_;
  std::vector<Section> sections_;
  bool has_loader_ = false;
};

}  // namespace atl::cuda
