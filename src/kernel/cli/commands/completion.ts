// `weft completion`: scripts for shells, which ask
// `weft completion complete -- …` what may follow.

import { usage } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { defineVerb } from '../verb.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const verb = defineVerb({
  define(command) {
    command.argument('<shell>', SHELLS.join(', '));
    command.argument('[words...]', 'for the scripts: the words so far');
    command.passThroughOptions();
    command.addHelpText(
      'after',
      "\nbash: echo 'source <(weft completion bash)' >> ~/.bashrc" +
        "\nzsh:  echo 'source <(weft completion zsh)' >> ~/.zshrc" +
        '\nfish: weft completion fish > ~/.config/fish/completions/weft.fish',
    );
  },
  async run({ context, args: [word = '', ...rest] }) {
    if (word === 'complete') return complete(context, rest);
    const shell = SHELLS.find((known) => known === word);
    if (shell === undefined) throw usage(`'${word}' is not one of ${SHELLS.join(', ')}`);
    context.out(await scriptOf(shell));
    return 0;
  },
});

async function scriptOf(shell: (typeof SHELLS)[number]): Promise<string> {
  if (shell === 'bash') return (await import('../completion/bash.ts')).BASH;
  if (shell === 'zsh') return (await import('../completion/zsh.ts')).ZSH;
  return (await import('../completion/fish.ts')).FISH;
}

async function complete(context: Context, words: readonly string[]): Promise<number> {
  const { completeWords } = await import('../completion/complete.ts');
  await completeWords(context, words[0] === '--' ? words.slice(1) : words);
  return 0;
}
