// NumPy's archives (.npz): ZIP files of .npy members, read without trusting them. Names of members only
// choose and never become paths. Nothing is inflated beyond what a member's shape takes. A member belongs to
// one thread; functions throw Error(MissingInput, BadData, Io) with the archive's name.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/files/arrays/npy.h"
#include "plugins/files/arrays/zip_directory.h"
#include "plugins/files/shared/open_file.h"

namespace contorno {

class NpzMember {
 public:
  /// Opens `member` ("maps" or "maps.npy") of an archive; an empty name means the only one. Reads its header.
  const NpyHeader& open(const std::string& path, const std::string& member, Numbers numbers = Numbers::Maps);
  const NpyHeader& header() const { return header_; }
  /// "scan.npz:maps.npy"
  const std::string& name() const { return name_; }
  /// Inflates all samples, as stored, once; `samples` is of the size that the header tells.
  void read_samples(std::span<std::byte> samples);
  void close();

 private:
  class Unpacker;
  struct Discard {
    void operator()(Unpacker* unpacker) const;
  };
  [[noreturn]] void damaged(const std::string& why) const;
  const ZipMember& choose(const std::vector<ZipMember>& members, const std::string& member) const;
  void check_sizes(const ZipMember& member) const;
  std::size_t read_some(std::span<std::byte> bytes);

  std::string path_, name_;
  OpenFile file_;
  std::unique_ptr<Unpacker, Discard> unpacker_;
  NpyHeader header_;
  std::vector<char> start_;  ///< the header and the samples that came with it
};

}  // namespace contorno
