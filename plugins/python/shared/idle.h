// Keeps planned objects that no call uses at the moment, because planning them again would allocate again.
// Functions may be called from any thread.
#pragma once

#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace contorno::python {

template <class T>
class Idle {
 public:
  static Idle& instance() {
    static auto* const idle = new Idle;  // never destroyed: the driver may be gone before it
    return *idle;
  }

  /// Hands over an object that was given with this key; null when there is none.
  std::unique_ptr<T> take(const std::string& key) {
    const std::lock_guard lock(mutex_);
    for (auto one = idle_.begin(); one != idle_.end(); ++one)
      if (one->key == key) {
        std::unique_ptr<T> found = std::move(one->object);
        idle_.erase(one);
        return found;
      }
    return nullptr;
  }
  /// Keeps `object` for take(). The kMost that were given last, of all keys together, are kept.
  void give(const std::string& key, std::unique_ptr<T> object) {
    std::list<Entry> evicted;
    const std::lock_guard lock(mutex_);
    idle_.push_front({key, std::move(object)});
    if (idle_.size() > kMost) evicted.splice(evicted.end(), idle_, std::prev(idle_.end()));
  }

 private:
  static constexpr std::size_t kMost = 8;
  struct Entry {
    std::string key;
    std::unique_ptr<T> object;
  };
  std::mutex mutex_;
  std::list<Entry> idle_;
};

}  // namespace contorno::python
