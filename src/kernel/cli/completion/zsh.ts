// Completion for zsh, sourced or as the file _weft in a folder of $fpath.

import { shellText } from './shell-text.ts';

/** Words are unquoted with (Q), which evaluates nothing. */
export const ZSH = shellText`#compdef weft
# Completion of weft for zsh: source <(weft completion zsh)
_weft() {
  local -a lines offers shown open openshown
  local line word text directive=4
  lines=("\${(@f)$(command weft completion complete -- \
    "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    if [[ $line == :* ]]; then
      directive=\${line#:}
      continue
    fi
    word=\${line%%$'\t'*} text=\${line#*$'\t'}
    if [[ $word == *[=:] ]]; then
      open+=("$word") openshown+=("$word")
    else
      offers+=("$word") shown+=("\${(r:24:)word} $text")
    fi
  done
  compadd -l -d shown -a offers
  compadd -S '' -d openshown -a open
  if [[ $directive == 0 || $directive == 16 ]]; then
    [[ $PREFIX != --*=* ]] || compset -P '*='
    if [[ $directive == 16 ]]; then _files -/; else _files; fi
  fi
}

if [[ $funcstack[1] == _weft ]]; then
  _weft "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _weft weft
fi
`;
