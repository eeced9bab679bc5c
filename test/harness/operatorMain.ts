import { fileURLToPath } from 'node:url';

/** Where bundleOperator puts the path of the program. */
export const MAIN_VARIABLE = 'TRAFFIC_OPERATOR_TEST_MAIN';

/** The program that tests start: the bundle of this run, as the image has it; without one, the sources. */
export function operatorMain(): string {
  return process.env[MAIN_VARIABLE] ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url));
}
