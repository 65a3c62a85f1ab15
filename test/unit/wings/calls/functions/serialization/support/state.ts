// A module with state, and a function that changes it.

export let count = 0;

export const inc = (): void => {
  count += 1;
};

export function get(): number {
  return count;
}
