import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  name: string;
  version: string;
  license?: string;
}

/** What a licence file is called: LICENSE, LICENCE.md, license.txt, COPYING, LICENSE-MIT. */
const LICENSE_FILE = /^(licen[cs]e|copying)([.-].*)?$/i;

/**
 * The licences of the packages whose files went into a bundle, as one text: most of them ask to be passed on with the
 * code. Throws when a package comes without one.
 *
 * @param inputs paths of the bundled files, as esbuild names them
 */
export function thirdPartyLicenses(inputs: readonly string[]): string {
  const directories = new Set(inputs.flatMap((path) => packageDirectory(path) ?? []));
  const sections = [...directories].map(section).sort();
  return ['This program contains the following packages.', ...new Set(sections)].join(`\n\n${'-'.repeat(80)}\n\n`);
}

/** 'a/node_modules/@x/y' of 'a/node_modules/@x/y/z/index.js'; nothing for a file of the project itself. */
function packageDirectory(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

function section(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;
  const texts = readdirSync(directory)
    .filter((file) => LICENSE_FILE.test(file) && existsSync(join(directory, file)))
    .map((file) => readFileSync(join(directory, file), 'utf8').trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${name} ${version} comes without a licence`);
  return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n');
}
