#include "tools/shell/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "config/help_page.h"
#include "pipeline/graph/steps.h"
#include "stages/contour_prep/stage.h"
#include "tools/shell/set_words.h"

namespace contorno {
namespace {

const std::string kLibrary = "FILE.so";  // as the help of --load calls it

/// The command line while it is gone through.
class Line {
 public:
  Line(const std::vector<std::string>& words, const ProgramPages& pages, const Catalog& catalog)
      : words_(words), pages_(pages), catalog_(catalog), typed_(words.back()) {}

  LineCompletion complete() {
    std::size_t command = 0;  // where its name stands, behind the options of the program
    for (; command + 1 < words_.size(); ++command) {
      if (awaited_ == nullptr && !words_[command].starts_with('-')) break;
      pass(pages_.program, words_[command]);
    }
    if (command + 1 == words_.size())
      complete_command_name();
    else
      for (const CommandPage& page : pages_.commands)
        if (page.name == words_[command]) complete_command(page, command + 1);
    return std::move(completion_);
  }

 private:
  void complete_command_name() {
    awaits_param_value_ = false;
    if (complete_value(pages_.program)) return;
    for (const CommandPage& command : pages_.commands) add(command.name, command.summary);
    add_options(pages_.program);
  }

  void complete_command(const CommandPage& command, std::size_t first) {
    awaits_param_value_ = false;
    for (std::size_t i = first; i + 1 < words_.size(); ++i) pass(command, words_[i]);
    if (complete_value(command)) return;
    if (!only_arguments_ && typed_.starts_with('-')) return add_options(command);
    if (arguments_.size() < command.arguments.size()) add_values(command.arguments[arguments_.size()], "");
  }

  /// Whether the last word is the value of an option, or has one; then adds what it may be.
  bool complete_value(const CommandPage& command) {
    const std::size_t equals = typed_.find('=');
    if (awaited_ != nullptr) {
      add_values(*awaited_, "");
    } else if (awaits_param_value_) {
      add_param_values("");
    } else if (!only_arguments_ && typed_.starts_with("--") && equals != std::string::npos) {
      const std::string name = typed_.substr(0, equals), beginning = typed_.substr(0, equals + 1);
      if (const CommandOption* option = option_called(command, name)) {
        add_values(*option, beginning);
      } else {
        param_ = param_called(name);
        add_param_values(beginning);
      }
    } else {
      return false;
    }
    return true;
  }

  /// Goes past a word that is complete.
  void pass(const CommandPage& command, const std::string& word) {
    if (awaited_ != nullptr || (awaits_param_value_ && !word.starts_with("--"))) {
      awaited_ = nullptr;
      awaits_param_value_ = false;
      return;
    }
    awaits_param_value_ = false;
    if (word == "--") {
      only_arguments_ = true;
    } else if (!only_arguments_ && word.starts_with('-') && word.size() > 1) {
      const std::string name = word.substr(0, word.find('='));
      const bool has_value = name.size() != word.size();
      given_.push_back(name);
      const CommandOption* option = option_called(command, name);
      if (option != nullptr && !option->value.empty() && !has_value) awaited_ = option;
      if (option == nullptr && !has_value) param_ = param_called(name), awaits_param_value_ = true;
    } else {
      arguments_.push_back(word);
      if (command.arguments.size() >= arguments_.size() &&
          command.arguments[arguments_.size() - 1].value == "STAGE")
        stage_ = catalog_.stage(word);
    }
  }

  static const CommandOption* option_called(const CommandPage& command, const std::string& name) {
    for (const CommandOption& option : command.options)
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) return &option;
    return nullptr;
  }

  /// The parameter of the stage that is applied, --size, or null.
  const ParamSpec* param_called(const std::string& name) const {
    return stage_ == nullptr || name.size() < 3 ? nullptr : stage_->params.find(name.substr(2));
  }

  void add(const std::string& word, const std::string& sentence) {
    if (word.starts_with(typed_)) completion_.candidates.push_back({word, sentence});
  }

  bool is_given(const std::string& name) const {
    return std::find(given_.begin(), given_.end(), name) != given_.end();
  }

  void add_options(const CommandPage& command) {
    for (const CommandOption& option : command.options) {
      const bool given = std::any_of(option.names.begin(), option.names.end(),
                                     [&](const std::string& name) { return is_given(name); });
      if (given && !option.repeatable) continue;
      for (const std::string& name : option.names)
        if (typed_.starts_with('-')) add(name, option.sentence);
    }
    if (stage_ == nullptr) return;
    for (const ParamSpec& spec : stage_->params.specs)
      if (!is_given("--" + spec.name)) add("--" + spec.name, spec.sentence);
    for (std::size_t port = 1; port < stage_->inputs.size(); ++port)
      add("--" + stage_->inputs[port].name, stage_->inputs[port].sentence);
    for (std::size_t port = 1; port < stage_->outputs.size(); ++port)
      add("--" + stage_->outputs[port].name + "-out", stage_->outputs[port].sentence);
  }

  /// A word that is no parameter is a file: the second input or output of a stage.
  void add_param_values(const std::string& beginning) {
    completion_.files =
        param_ == nullptr || param_->kind == ParamKind::Mask || param_->kind == ParamKind::Text;
    if (param_ != nullptr)
      for (const std::string& word : words_of_param(*param_)) add(beginning + word, "");
  }

  template <class Type>
  void add_types(const std::string& beginning, const std::vector<const Type*>& types) {
    for (const Type* type : types) add(beginning + type->name, type->summary);
  }

  /// What an option may take, by the words that its help has for it.
  void add_values(const CommandOption& option, const std::string& beginning) {
    for (const std::string& choice : option.choices) add(beginning + choice, "");
    const std::string& value = option.value;
    if (value == "FOLDER") completion_.folders = true;
    if (value == kLibrary)
      add_libraries(beginning);
    else if (value.starts_with("FILE"))
      add_files(value.substr(4));
    if (value == "STAGE") add_types(beginning, catalog_.stages);
    if (value == "STEP") add_types(beginning, contour_steps());
    if (value == "COMMAND|PART" || value == "PAGE")
      for (const CommandPage& command : pages_.commands) add(beginning + command.name, command.summary);
    if (value == "PART" || value == "COMMAND|PART" || value == "PAGE") add_parts(beginning);
    if (value == "NODE.KEY=VALUE" && beginning.empty())
      complete_set(typed_, arguments_.empty() ? "" : arguments_.front(), catalog_, completion_);
  }

  /// `endings` as ".yaml" or ".npy|npz", or nothing.
  void add_files(std::string endings) {
    completion_.files = true;
    for (char& c : endings)
      if (c == '.' || c == '|') c = ' ';
    for (std::size_t at = 0; (at = endings.find_first_not_of(' ', at)) != std::string::npos;) {
      const std::size_t end = std::min(endings.find(' ', at), endings.size());
      completion_.endings.push_back(endings.substr(at, end - at));
      at = end;
    }
    if (completion_.endings == std::vector<std::string>{"yaml"})
      completion_.endings.insert(completion_.endings.end(), {"yml", "json"});
  }

  /// Files of code, which are named by absolute paths: for no beginning of one, that of the current folder.
  void add_libraries(const std::string& beginning) {
    const std::string typed = typed_.substr(beginning.size());
    std::error_code unknown;
    if (typed.starts_with('/') || typed.starts_with('~')) {
      add_files(kLibrary.substr(4));
    } else if (const auto here = std::filesystem::current_path(unknown); typed.empty() && !unknown) {
      add(beginning + (here / "").string(), "");
      completion_.goes_on = true;
    }
  }

  void add_parts(const std::string& beginning) {
    add_types(beginning, catalog_.sources);
    add_types(beginning, catalog_.stages);
    add_types(beginning, catalog_.sinks);
    for (const config::HelpPage& page : config::section_pages()) add(beginning + page.name, page.summary);
  }

  const std::vector<std::string>& words_;
  const ProgramPages& pages_;
  const Catalog& catalog_;
  const std::string& typed_;
  LineCompletion completion_;
  std::vector<std::string> arguments_, given_;
  const CommandOption* awaited_ = nullptr;  ///< the option whose value comes next
  const StageType* stage_ = nullptr;        ///< that is applied
  const ParamSpec* param_ = nullptr;        ///< parameter of `stage_` whose value comes next or is typed
  bool awaits_param_value_ = false;
  bool only_arguments_ = false;
};

/// `text` on one line without tabs.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  return text;
}

}  // namespace

std::string LineCompletion::text() const {
  std::string text;
  if (files) text += fmt::format(":files{}{}\n", endings.empty() ? "" : " ", fmt::join(endings, " "));
  if (folders) text += ":folders\n";
  if (goes_on) text += ":goes-on\n";
  for (const Candidate& one : candidates)
    text += fmt::format("{}\t{}\n", one_line(one.word), one_line(one.sentence));
  return text;
}

LineCompletion complete_line(const std::vector<std::string>& words, const ProgramPages& pages,
                             const Catalog& catalog) {
  return words.empty() ? LineCompletion{} : Line(words, pages, catalog).complete();
}

}  // namespace contorno
