// What the reader of this folder uses of libhdf5: its lock, handles that give themselves back, its complaints
// in a sentence, and what a data set says of its samples and how they are packed.
#pragma once

#define H5_USE_110_API  // later versions have it, too
#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include "plugins/files/arrays/npy.h"

namespace contorno::hdf5 {

/// Held while the library is used: it has state of its own, and not every build of it has a lock. What goes
/// wrong is ours to tell, so that it prints nothing; it remembers that for each thread by itself.
class Library {
 public:
  Library() : lock_(mutex()) { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  const std::lock_guard<std::mutex> lock_;
};

/// A handle of the library, which `Close` gives back.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): the library takes it so
  bool is_open() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// The sentence of the innermost function that complained last.
std::string complaint();

/// How samples come into memory: as `in_memory`, to which the library converts them, which `header`
/// describes.
struct SampleType {
  Handle in_memory;
  ElementType type = ElementType::U8;
  bool boolean = false;
};
/// Describes a data set. Throws Error(BadData), in which `name` is the array's, for samples that are no
/// numbers, and unless `numbers` is Any for those that no map has.
SampleType sample_type(hid_t set, Numbers numbers, const std::string& name);

/// Throws Error(BadData) where what a data set says of itself is not what its samples are: attributes that
/// scale them.
void check_scale(hid_t set, const std::string& name);

/// The sides of a chunk; none where samples lie one behind the other. Throws Error(BadData) for a filter that
/// is missing here, with the package that has it, and for filters that make more of a chunk than it has.
std::vector<std::uint64_t> checked_chunk(hid_t set, const std::string& name);

}  // namespace contorno::hdf5
