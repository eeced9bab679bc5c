import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundledPackage } from './packages.ts';

/** Names of licence files: LICENSE, LICENCE.md, license.txt, COPYING, LICENSE-MIT. */
const LICENSE_FILE = /^(licen[cs]e|copying)([.-].*)?$/i;

/**
 * The licences of the bundled packages as one text. Most licences require this. Packages with the same text, such as the packages of AWS,
 * are listed together before it.
 * @throws when a package has no licence file
 */
export function thirdPartyLicenses(packages: readonly BundledPackage[]): string {
  const byText = Map.groupBy(packages, licenseOf);
  const sections = [...byText].map(([text, those]) => {
    const titles = new Set(those.map(({ name, version, license }) => `${name} ${version} (${license ?? 'see below'})`));
    return [[...titles].join('\n'), ...(text === '' ? [] : [text])].join('\n\n');
  });
  return ['This program contains the following packages.', ...sections].join(`\n\n${'-'.repeat(80)}\n\n`);
}

function licenseOf({ directory, name, version, license }: BundledPackage): string {
  const texts = readdirSync(directory)
    .filter((file) => LICENSE_FILE.test(file) && existsSync(join(directory, file)))
    .map((file) => readFileSync(join(directory, file), 'utf8').trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${name} ${version} comes without a licence`);
  return texts.join('\n\n');
}
