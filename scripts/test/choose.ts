import type { Level } from './levels.ts';

/** What `make test` was told to run. */
export interface Choice {
  readonly chosen: readonly Level[];
  /** Names of the levels that were left out. */
  readonly leftOut: readonly string[];
}

/**
 * Chooses levels by the names in two lists, with blanks or commas between them; without `only`, all of them.
 *
 * @throws Error naming a level that there is not, and those that there are
 */
export function choose(levels: readonly Level[], lists: { only?: string; without?: string }): Choice {
  const only = named(levels, 'only', lists.only);
  const without = named(levels, 'without', lists.without);
  const chosen = levels.filter(({ name }) => (only.size === 0 || only.has(name)) && !without.has(name));
  return { chosen, leftOut: [...without] };
}

function named(levels: readonly Level[], option: string, list = ''): ReadonlySet<string> {
  const names = list.split(/[\s,]+/).filter(Boolean);
  const unknown = names.find((name) => !levels.some((level) => level.name === name));
  if (unknown !== undefined) {
    throw new Error(`--${option}: there is no level ${unknown}, only ${levels.map((level) => level.name).join(', ')}`);
  }
  return new Set(names);
}
