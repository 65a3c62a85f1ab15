// Completion for bash 4.3 and later. It needs nothing but bash: no bash-completion package.

import { shellText } from './shell-text.ts';

/**
 * What is typed is only ever passed on as an argument: nothing here is evaluated, and `compgen -W`,
 * which expands its words, is not used. bash cuts words at `=` and `:`; they are joined again here,
 * and what was cut off is taken from the answers, because readline replaces only the last piece.
 */
export const BASH = shellText`# Completion of weft for bash: source <(weft completion bash)
_weft_words() {
  # Sets words to those of the line up to the cursor, without the program.
  local rest=\${COMP_LINE:0:COMP_POINT} bare word i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    bare=\${rest#"\${rest%%[![:space:]]*}"}
    word=\${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || word=$bare
    if ((i > 0)) && [[ $bare == "$rest" ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    rest=\${bare:\${#word}}
  done
  words=("\${words[@]:1}")
}

_weft_complete() {
  local -a words lines
  local IFS=$' \t\n' current cut='' quote='' line directive=4 word
  COMPREPLY=()
  _weft_words
  ((\${#words[@]} > 0)) || return 0
  current=\${words[\${#words[@]}-1]}
  case $current in
    [\"\']*) quote=\${current:0:1} current=\${current:1} ;;
    *) [[ $COMP_WORDBREAKS != *=* ]] || cut=\${current%"\${current##*[=:]}"} ;;
  esac
  words[\${#words[@]}-1]=$current
  mapfile -t lines < <(command weft completion complete -- "\${words[@]}" 2>/dev/null)
  for line in "\${lines[@]}"; do
    if [[ $line == :* ]]; then
      directive=\${line:1}
      continue
    fi
    word=\${line%%$'\t'*}
    word=\${word:\${#cut}}
    [[ $word ]] || continue
    [[ $quote || $word != *[!A-Za-z0-9_.,:=@%+/-]* ]] || printf -v word %q "$word"
    COMPREPLY+=("$word")
    [[ $word != *[=:] ]] || compopt -o nospace 2>/dev/null
  done
  case $directive in
    0) compopt -o default 2>/dev/null ;;
    16) compopt -o dirnames 2>/dev/null ;;
  esac
  return 0
}

complete -F _weft_complete weft
`;
