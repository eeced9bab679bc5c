import type { Level } from './levels.ts';
import { LONG_LEVELS } from './longLevels.ts';

/** The levels that `make test` runs. */
export interface Choice {
  readonly chosen: readonly Level[];
  /** Names of the levels that were left out. */
  readonly leftOut: readonly string[];
}

/**
 * Chooses levels by lists of names, separated by spaces or commas; the name `long` selects every long level. Without `only` these are all
 * levels except the levels on request; `with` adds them.
 *
 * @throws Error with the name of an unknown level, and all known names
 */
export function choose(levels: readonly Level[], lists: { only?: string; with?: string; without?: string }): Choice {
  const only = named(levels, 'only', lists.only);
  const added = named(levels, 'with', lists.with);
  const without = named(levels, 'without', lists.without);
  const isChosen = ({ name, onRequest }: Level): boolean =>
    only.size > 0 ? only.has(name) : !onRequest || added.has(name);
  const chosen = levels.filter((level) => isChosen(level) && !without.has(level.name));
  return { chosen, leftOut: [...without] };
}

function named(levels: readonly Level[], option: string, list = ''): ReadonlySet<string> {
  const words = list.split(/[\s,]+/).filter(Boolean);
  const names = words.flatMap((word) => (word === 'long' ? LONG_LEVELS.map(({ name }) => name) : word));
  const unknown = names.find((name) => !levels.some((level) => level.name === name));
  if (unknown !== undefined) {
    throw new Error(`--${option}: there is no level ${unknown}, only ${levels.map((level) => level.name).join(', ')}`);
  }
  return new Set(names);
}
