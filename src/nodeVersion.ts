import manifest from '../package.json' with { type: 'json' };

const OLDEST_MAJOR = Number(/\d+/.exec(manifest.engines.node)?.[0]);

/** @param version of Node.js, such as "v24.1.0" @returns what is wrong with it, if anything: it is too old */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number(/\d+/.exec(version)?.[0]);
  return major >= OLDEST_MAJOR ? undefined : `needs Node.js ${OLDEST_MAJOR} or newer, this is ${version}`;
}
