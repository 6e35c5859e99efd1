#include "tools/shell/scripts.h"

namespace contorno {
namespace {

// Bash breaks words at the characters of COMP_WORDBREAKS, among them = and :, and replaces what is behind the
// last one only; contorno gets whole words.
constexpr std::string_view kBash = R"sh(# Completion of contorno for bash.
_contorno() {
  local words=() word line joined=0 i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ ${#words[@]} -gt 0 && $word =~ ^[=:@]+$ ]]; then
      words[${#words[@]} - 1]+=$word joined=1
    elif ((joined)); then
      words[${#words[@]} - 1]+=$word joined=0
    else
      words+=("$word")
    fi
  done
  local typed=${words[${#words[@]} - 1]} breaks=${COMP_WORDBREAKS//[!=:@]/} kept= name
  [[ -n $breaks && $typed == *[$breaks]* ]] && kept=${typed%"${typed##*[$breaks]}"}
  local program=${COMP_WORDS[0]/#\~/$HOME} ending IFS=$'\n'
  COMPREPLY=()
  while read -r line; do
    case $line in
    :files)
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -f -- "${typed#"$kept"}"))
      ;;
    ':files '*)
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -d -- "${typed#"$kept"}"))
      line=${line#:files }
      while [[ -n $line ]]; do
        ending=${line%% *} line=${line#"$ending"} line=${line# }
        COMPREPLY+=($(compgen -f -X "!*.$ending" -- "${typed#"$kept"}"))
      done
      ;;
    :folders)
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -d -- "${typed#"$kept"}"))
      ;;
    :goes-on) compopt -o nospace 2>/dev/null ;;
    *)
      printf -v name %q "${line%%$'\t'*}"
      COMPREPLY+=("${name#"$kept"}")
      ;;
    esac
  done < <("$program" completion words "${words[@]//\\/}" 2>/dev/null)
}
complete -F _contorno contorno
)sh";

constexpr std::string_view kZsh = R"sh(#compdef contorno
# Completion of contorno for zsh.
_contorno_files() {  # those that the value of --option=value may be
  local before=$PREFIX ignored=$IPREFIX
  [[ $PREFIX == --*=* ]] && compset -P '--*='
  _files "$@"
  PREFIX=$before IPREFIX=$ignored
}
_contorno() {
  local line word
  local -a candidates space endings
  while IFS= read -r line; do
    case $line in
    :files) _contorno_files ;;
    ':files '*)
      endings=(${(s: :)${line#:files }})
      _contorno_files -g "*.(${(j:|:)endings})(-.)"
      ;;
    :folders) _contorno_files -/ ;;
    :goes-on) space=(-S '') ;;
    *)
      word=${line%%$'\t'*}
      candidates+=("${word//:/\\:}:${line#*$'\t'}")
      ;;
    esac
  done < <("${${(Q)words[1]}/#\~/$HOME}" completion words "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
  ((${#candidates})) && _describe -t words contorno candidates "${space[@]}"
  return 0
}
if [[ $funcstack[1] == _contorno ]]; then _contorno "$@"; else compdef _contorno contorno; fi
)sh";

constexpr std::string_view kFish = R"sh(# Completion of contorno for fish.
function __contorno_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program completion words $words "$typed" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$typed"
            case ':files *'
                for ending in (string split ' ' -- (string replace ':files ' '' -- $line))
                    __fish_complete_suffix "$typed" .$ending | string match -r -- "^[^\t]*(?:/|\\.$ending)(?:\t.*)?\$"
                end
            case ':folders'
                __fish_complete_directories "$typed"
            case ':goes-on'
            case '*'
                echo $line
        end
    end
end
complete -c contorno -f -a '(__contorno_complete)'
)sh";

}  // namespace

const std::vector<ShellScript>& completion_scripts() {
  static const std::vector<ShellScript> scripts{{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  return scripts;
}

}  // namespace contorno
