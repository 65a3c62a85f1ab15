// Completion for fish 3 and later.

import { shellText } from './shell-text.ts';

/** `commandline -o` takes quotes away and evaluates nothing. */
export const FISH = shellText`# Completion of weft for fish: weft completion fish | source
function __weft_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -e words[1]
    set -l lines (command weft completion complete -- $words "$current" 2>/dev/null)
    set -q lines[1]; or return
    set -l directive $lines[-1]
    set -e lines[-1]
    set -q lines[1]; and printf '%s\n' $lines
    set -l before (string match -r -- '^--[^=]+=' "$current")
    set -l typed (string replace -r -- '^--[^=]+=' '' "$current")
    switch $directive
        case :0
            printf "$before%s\n" (__fish_complete_path "$typed")
        case :16
            printf "$before%s\n" (__fish_complete_directories "$typed")
    end
end

complete -c weft -e
complete -c weft -f -a '(__weft_complete)'
`;
