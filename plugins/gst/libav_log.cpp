#include "plugins/gst/libav_log.h"

#include <gst/gst.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace contorno::gst {
namespace {

struct Listeners {
  std::mutex mutex;
  std::vector<LibavLog*> all;
};

Listeners& listeners() {
  static auto* const kept = new Listeners;  // libav's threads may log while the process ends
  return *kept;
}

GstDebugCategory* libav_category() {
  static GstDebugCategory* const category = [] {
    GSList* all = gst_debug_get_all_categories();
    GstDebugCategory* found = nullptr;
    for (const GSList* item = all; item != nullptr; item = item->next) {
      auto* one = static_cast<GstDebugCategory*>(item->data);
      if (std::string_view(gst_debug_category_get_name(one)) == "libav") found = one;
    }
    g_slist_free(all);
    return found;
  }();
  return category;
}

void on_log(GstDebugCategory* category, GstDebugLevel level, const gchar* file, const gchar* function,
            gint line, GObject* object, GstDebugMessage* message, gpointer prints_others) {
  if (category == libav_category() && level == GST_LEVEL_ERROR) {
    Listeners& known = listeners();
    const std::lock_guard lock(known.mutex);
    const auto of = known.all.size() > 1 ? LibavLog::Of::AnyOfSeveral : LibavLog::Of::ThisVideo;
    for (LibavLog* listener : known.all) listener->add(gst_debug_message_get(message), of);
  } else if (prints_others) {
    gst_debug_log_default(category, level, file, function, line, object, message, nullptr);
  }
}

/// Takes the place of the log function that prints, which would print what is counted here; unless somebody
/// wants to see GStreamer's log.
void install() {
  GstDebugCategory* category = libav_category();
  if (!category) return;
  const bool watched = std::getenv("GST_DEBUG") || std::getenv("GST_DEBUG_FILE");
  const bool prints_others = !watched && gst_debug_remove_log_function(gst_debug_log_default) > 0;
  gst_debug_add_log_function(on_log, prints_others ? category : nullptr, nullptr);
  if (gst_debug_category_get_threshold(category) < GST_LEVEL_ERROR)
    gst_debug_category_set_threshold(category, GST_LEVEL_ERROR);
}

}  // namespace

LibavLog::~LibavLog() {
  Listeners& known = listeners();
  const std::lock_guard lock(known.mutex);
  std::erase(known.all, this);
}

void LibavLog::listen() {
  static std::once_flag once;
  std::call_once(once, install);
  Listeners& known = listeners();
  const std::lock_guard lock(known.mutex);
  if (std::find(known.all.begin(), known.all.end(), this) == known.all.end()) known.all.push_back(this);
}

void LibavLog::add(const char* sentence, Of of) {
  const std::lock_guard lock(mutex_);
  if (count_++ > 0) return;
  first_ = sentence ? sentence : "";
  while (!first_.empty() && (first_.back() == '\n' || first_.back() == '.')) first_.pop_back();
  first_ += of == Of::ThisVideo
                ? " (reported by libav)"
                : " (reported by libav, of this video or of another that is read at the same time)";
}

int LibavLog::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::string LibavLog::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

}  // namespace contorno::gst
