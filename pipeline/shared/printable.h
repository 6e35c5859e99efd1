// Text from outside (names of files, addresses, words of a graph, messages of libraries) as it may be shown:
// it cannot forge a line or a colour of a log, and passwords are masked. Everything that people or logs read
// goes through these functions where it is printed (not where it is found): messages, reports, drawings and
// exceptions. Functions without state, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace contorno {

/// `text` with *** in place of every secret: the password of an address with a user (rtsp://user:***@host/),
/// what follows words such as password=, token= or api_key= in the query of an address, and anywhere the
/// value of what is secret by its name (is_secret_name): user-pw=***, password="***", token: ***. Masking
/// twice changes nothing.
std::string masked(std::string_view text);

/// Whether the value of a property or key of this name is a secret: it ends with a word such as pw, password,
/// passphrase, token, secret or credentials.
bool is_secret_name(std::string_view name);

/// `text` as one line: control characters, and characters that turn the direction of writing, as \n, \x07,
/// \u202e and so on; bytes that are no UTF-8 as \xff; passwords masked. Cut off after `limit` characters.
std::string printable(std::string_view text, std::size_t limit = 60);
/// `text` as printable() makes it, not cut off: for sentences that quote long names.
std::string printable_sentence(std::string_view text);
/// `text` as printable_sentence() makes it, but newlines stay.
std::string printable_lines(std::string_view text);

/// What stands for an ASCII character in the text and the attributes of XML and HTML; empty: itself. Line
/// ends and tabs become character references, so that attributes keep them; other control characters, which
/// XML does not have, become U+FFFD.
std::string_view markup_of(char c);
/// `text`, which must be valid UTF-8, with every character replaced by markup_of.
std::string markup(std::string_view text);

/// Bytes of the UTF-8 character at `text[at]`, 0 when it is none (overlong forms and surrogates included).
std::size_t utf8_length(std::string_view text, std::size_t at);
/// Whether a control character other than newline and tab begins at `text[at]`.
bool is_control(std::string_view text, std::size_t at);
/// Code points in valid UTF-8.
std::size_t character_count(std::string_view utf8);

}  // namespace contorno
