import type { Level } from './levels.ts';

/** What `make test` was told to run. */
export interface Choice {
  readonly chosen: readonly Level[];
  /** Names of the levels that were left out. */
  readonly leftOut: readonly string[];
}

/**
 * Chooses levels by the names in lists, with blanks or commas between them. Without `only` it is all but those that
 * take long; `with` adds these.
 *
 * @throws Error naming a level that there is not, and those that there are
 */
export function choose(levels: readonly Level[], lists: { only?: string; with?: string; without?: string }): Choice {
  const only = named(levels, 'only', lists.only);
  const added = named(levels, 'with', lists.with);
  const without = named(levels, 'without', lists.without);
  const isChosen = ({ name, long }: Level): boolean => (only.size > 0 ? only.has(name) : !long || added.has(name));
  const chosen = levels.filter((level) => isChosen(level) && !without.has(level.name));
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
