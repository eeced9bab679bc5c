import { readFileSync } from 'node:fs';

const DOCKERFILE = new URL('../../Dockerfile', import.meta.url);

/** The environment of the operator's image: the lines `ENV NAME=value` of the Dockerfile. */
export function imageEnvironment(): Record<string, string> {
  const lines = readFileSync(DOCKERFILE, 'utf8').matchAll(/^ENV (\w+)=(\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}
