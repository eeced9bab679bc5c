import { vi } from 'vitest';
import type { Aws } from '../../harness/moto.ts';

/**
 * Gives this process, and the operators that it starts, the credentials of a server; its address is for them to be told. Undone by
 * `vi.unstubAllEnvs()`.
 */
export function stubCredentials({ environment }: Pick<Aws, 'environment'>): void {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.stubEnv('AWS_ENDPOINT_URL', undefined);
}
