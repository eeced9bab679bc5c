import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { bundle } from '../../scripts/generate/bundle/bundle.ts';
import { writeFiles } from '../../scripts/generate/file.ts';

/** The version that a catalog has after the present one. */
export const NEXT_VERSION = '9.0.0';

/** Writes the bundle of that version, with an image of that tag, into a folder of a directory, and returns that folder. */
export function writeNextBundle(directory: string): string {
  const root = join(directory, 'next');
  const image = `traffic-operator:${NEXT_VERSION}`;
  writeFiles(root, bundle({ version: NEXT_VERSION, previous: packageJson.version, image }));
  return join(root, 'bundle');
}
