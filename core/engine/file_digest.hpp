#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace atl {

inline constexpr std::uint64_t kDigestPiece = std::uint64_t{16} << 20;  ///< bytes

/// Into how many pieces a file is cut, at least one. Throws InputError for what is no regular file.
std::size_t digest_pieces(const std::string& name, std::uint64_t piece = kDigestPiece);

/// Of the bytes of one piece and of their number; the last one goes to the end, wherever that is by now. Throws InputError
/// for what cannot be opened, IoError.
std::uint64_t digest_of_piece(const std::string& name, std::size_t number, std::uint64_t piece = kDigestPiece);

/// Of a whole from those of its parts, in order; of one part, its own.
std::uint64_t digest_of_parts(std::span<const std::uint64_t> parts);

/// Of the bytes of a file and of their number.
std::uint64_t digest_of_file(const std::string& name, std::uint64_t piece = kDigestPiece);

}  // namespace atl
