// Text with the macros of man(7), as groff and mandoc read it.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

/// `text` as roff shows it unchanged, without line breaks: what is special is escaped, and what is not ASCII
/// named by its code. Throws InternalError where it is not UTF-8.
std::string roff_text(std::string_view text);
std::string roff_bold(std::string_view text);
std::string roff_italic(std::string_view text);

/// A page that is written from top to bottom. Arguments called `roff` are roff already, all others text.
class RoffPage {
 public:
  /// `date` as 2026-11-28; may be empty.
  RoffPage(std::string_view name, int section, std::string_view date, std::string_view version);

  void heading(std::string_view text);
  void subheading(std::string_view text);
  /// A paragraph; nothing for an empty one.
  void paragraph(std::string_view text);
  void roff_paragraph(std::string_view roff);
  /// A list's entry: its term, and what is said of it, which may be empty.
  void entry(std::string_view roff, std::string_view text);
  /// Lines as they are, indented.
  void lines(std::string_view text);

  const std::string& text() const { return text_; }

 private:
  void line(std::string_view roff);
  std::string text_;
};

}  // namespace contorno
