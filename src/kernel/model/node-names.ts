// Lists of node names as people write them: `n1,n[3-5,9],rack[01-12]-a`.

import { err, ok, type Result } from '../base/result.ts';
import { type NodeName, parseNodeName } from './ids.ts';
import { NODES_PER_TASK_MAX } from './limits.ts';

/** Commas separate, but for those inside brackets. Leading zeros are kept: `n[08-10]`. */
export function parseNodeNames(text: string): Result<NodeName[], string> {
  const names = new Set<NodeName>();
  for (const part of splitNames(text)) {
    const expanded = expand(part);
    if (!expanded.ok) return expanded;
    for (const one of expanded.value) {
      const name = parseNodeName(one);
      if (!name.ok) return name;
      names.add(name.value);
    }
    if (names.size > NODES_PER_TASK_MAX) return tooMany(text);
  }
  return ok([...names]);
}

function splitNames(text: string): string[] {
  const parts = text.match(/(?:\[[^\]]*\]|[^,[\]]|[[\]])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** One word with any number of bracketed ranges. */
function expand(word: string): Result<string[], string> {
  let names = [''];
  for (const piece of word.split(/(\[[^\]]*\])/)) {
    const inner = /^\[(.*)\]$/.exec(piece)?.[1];
    const choices = inner === undefined ? ok([piece]) : expandRanges(inner, word);
    if (!choices.ok) return choices;
    if (names.length * choices.value.length > NODES_PER_TASK_MAX) return tooMany(word);
    names = names.flatMap((name) => choices.value.map((choice) => name + choice));
  }
  return ok(names);
}

function expandRanges(inner: string, word: string): Result<string[], string> {
  const numbers: string[] = [];
  for (const range of inner.split(',')) {
    const [, from = '', to = from] = /^\s*(\d{1,9})(?:-(\d{1,9}))?\s*$/.exec(range) ?? [];
    if (from === '' || Number(to) < Number(from)) {
      return err(`'${word}' is not a list of nodes; write n1, n[2-4] or n[01-12,20]`);
    }
    if (Number(to) - Number(from) >= NODES_PER_TASK_MAX) return tooMany(word);
    for (let number = Number(from); number <= Number(to); number += 1) {
      numbers.push(String(number).padStart(from.length, '0'));
    }
  }
  return ok(numbers);
}

function tooMany(text: string): Result<never, string> {
  return err(`'${text}' names more than ${NODES_PER_TASK_MAX} nodes`);
}
