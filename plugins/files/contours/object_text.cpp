#include "plugins/files/contours/object_text.h"

namespace contorno {
namespace {

void write_numbers(TextBuffer& text, const char* name, const ViewNumbers& numbers, bool known) {
  text << ",\"" << name << "\":";
  if (!known) {
    text << "null";
    return;
  }
  text << R"({"largest":)" << numbers.largest << R"(,"mean":)" << numbers.mean << R"(,"median":)"
       << numbers.median << '}';
}

void write_place(TextBuffer& text, const char* name, const SeenIn* place) {
  text << ",\"" << name << "\":";
  if (place == nullptr)
    text << "null";
  else
    text << R"({"frame":)" << place->frame << R"(,"pts_ns":)" << place->pts_ns << '}';
}

}  // namespace

void write_record(TextBuffer& text, const FinishedObjects& objects, const ObjectRecord& record) {
  const bool known = record.whole_views > 0;
  text << R"("kind":)";
  text.json(kObjectKind) << R"(,"stage":)";
  text.json(objects.stage) << R"(,"object":)";
  text.json(objects.rule->name) << R"(,"id":)" << record.id << R"(,"left":)"
                                << (record.left ? "true" : "false");
  write_place(text, "first", &record.first);
  write_place(text, "last", &record.last);
  text << R"(,"views":)" << record.views << R"(,"whole_views":)" << record.whole_views
       << R"(,"median_views":)" << record.median_views;
  write_numbers(text, "area", record.area, known);
  text << R"(,"classes":[)";
  bool is_first = true;
  for (std::size_t k = 0; k < record.classes.size(); ++k) {
    const ObjectClass& spec = objects.rule->classes[k];
    const ObjectShare& of = record.classes[k];
    if (!spec.recorded) continue;
    text << (is_first ? R"({"name":)" : R"(,{"name":)");
    is_first = false;
    text.json(spec.name);
    write_numbers(text, "share", of.share, known);
    write_numbers(text, "count", of.count, known);
    write_place(text, "best", of.best ? &*of.best : nullptr);
    text << R"(,"over":)" << (of.is_over ? "true" : "false") << '}';
  }
  text << ']';
}

}  // namespace contorno
