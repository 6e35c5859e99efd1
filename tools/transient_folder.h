// A folder for files that nobody keeps.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

/// A folder that is removed, with all that is in it, when this object ends.
class TransientFolder {
 public:
  /// A new folder "contorno-PURPOSE-..." among the temporary files of the system. Throws Error(CannotCreate).
  explicit TransientFolder(std::string_view purpose);
  ~TransientFolder();
  TransientFolder(const TransientFolder&) = delete;
  TransientFolder& operator=(const TransientFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace contorno
