#include "plugins/files/arrays/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "plugins/files/shared/open_file.h"

namespace contorno {
namespace {

constexpr zip_int64_t kMaxMembers = 65536;
constexpr std::size_t kShownMembers = 8;
constexpr std::uint64_t kMostDeflated = 1032;  // bytes that one byte of deflate can become

/// A name that would leave the folder it is unpacked into; who writes that means harm.
bool climbs(std::string_view name) {
  return name.starts_with('/') || name == ".." || name.starts_with("../") || name.ends_with("/..") ||
         name.find("/../") != std::string_view::npos;
}

}  // namespace

void NpzMember::Discard::operator()(zip* archive) const {
  zip_discard(archive);
}
void NpzMember::Discard::operator()(zip_file* file) const {
  zip_fclose(file);
}

void NpzMember::damaged(const std::string& why) const {
  throw Error(ExitCode::BadData, fmt::format("'{}' is not a readable archive of arrays: {}", name_, why));
}

/// The index of the member that is meant. Archives with a name twice, or with names that climb out of a
/// folder, are refused as a whole.
std::uint64_t NpzMember::choose(const std::string& member) const {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  if (count > kMaxMembers) damaged(fmt::format("it has {} members, allowed are {}", count, kMaxMembers));
  std::vector<std::pair<std::string, std::uint64_t>> arrays, all;
  for (std::uint64_t index = 0; index < static_cast<std::uint64_t>(count); ++index) {
    const char* name = zip_get_name(archive_.get(), index, ZIP_FL_ENC_RAW);
    if (name == nullptr) damaged(fmt::format("member {} has no name", index));
    if (climbs(name)) damaged(fmt::format("its member '{}' points out of the archive", name));
    all.emplace_back(name, index);
    if (all.back().first.ends_with(".npy")) arrays.push_back(all.back());
  }
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != all.end()) damaged(fmt::format("it has the member '{}' twice", twice->first));
  if (member.empty() && arrays.size() == 1) return arrays[0].second;
  for (const auto& [name, index] : arrays)
    if (!member.empty() && (name == member || name == member + ".npy")) return index;
  if (arrays.empty()) damaged("it has no member *.npy");
  std::vector<std::string> names;
  for (const auto& [name, index] : arrays) names.push_back(name.substr(0, name.size() - 4));
  const std::size_t more = names.size() > kShownMembers ? names.size() - kShownMembers : 0;
  names.resize(names.size() - more);
  throw Error(ExitCode::BadData,
              fmt::format("the archive '{}' has the arrays {}{}{}; name one: {}:{}", path_,
                          fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more),
                          member.empty() ? "" : fmt::format(", and none that is called '{}'", member), path_,
                          names.front()));
}

const NpyHeader& NpzMember::open(const std::string& path, const std::string& member, Numbers numbers) {
  close();
  path_ = name_ = path;
  OpenFile file(path);
  file_bytes_ = file.bytes();
  int code = 0;
  archive_.reset(zip_fdopen(file.descriptor(), 0, &code));
  if (!archive_) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    damaged(why);
  }
  file.release();  // the archive closes it
  const std::uint64_t index = choose(member);
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive_.get(), index, 0, &stat) != 0) damaged("its directory is damaged");
  name_ = fmt::format("{}:{}", path, stat.name);
  if (stat.encryption_method != ZIP_EM_NONE) damaged("the archive's member is encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    damaged(
        fmt::format("compression method {} of the archive, allowed are what NumPy writes", stat.comp_method));
  if (stat.comp_size > file_bytes_ || stat.size / kMostDeflated > stat.comp_size)
    damaged(fmt::format("the archive says that {} bytes become {}", stat.comp_size, stat.size));
  file_.reset(zip_fopen_index(archive_.get(), index, 0));
  if (!file_) damaged(fmt::format("the archive's member cannot be opened: {}", zip_strerror(archive_.get())));
  start_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kNpyStartBytes, stat.size)));
  if (read_some(std::as_writable_bytes(std::span(start_))) != start_.size())
    damaged("the archive ends within the array");
  header_ = parse_npy_header({start_.data(), start_.size()}, stat.size, name_, numbers);
  if (header_.surplus > 0)
    damaged(
        fmt::format("the archive has {} bytes behind the {} samples", header_.surplus, describe(header_)));
  return header_;
}

std::size_t NpzMember::read_some(std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const zip_int64_t got = zip_fread(file_.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0) damaged(fmt::format("the archive is damaged: {}", zip_file_strerror(file_.get())));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void NpzMember::read_samples(std::span<std::byte> samples) {
  const std::size_t known = start_.size() - header_.offset;
  std::memcpy(samples.data(), start_.data() + header_.offset, std::min(known, samples.size()));
  if (known < samples.size() && read_some(samples.subspan(known)) != samples.size() - known)
    damaged("the archive ends within the array");
  std::byte behind{};  // the checksum is compared at the end
  if (read_some({&behind, 1}) != 0) damaged("the archive's member is longer than it says");
  close();
}

void NpzMember::close() {
  file_.reset();
  archive_.reset();
}

}  // namespace contorno
