import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package with files in a bundle. */
export interface BundledPackage {
  /** Its folder: 'node_modules/@x/y', relative to the same directory as the bundled files. */
  directory: string;
  name: string;
  version: string;
  /** SPDX expression; undefined if the package has none. */
  license?: string;
  /** Names of its dependencies, including optional and peer dependencies. */
  requires: readonly string[];
}

interface Manifest extends Pick<BundledPackage, 'name' | 'version' | 'license'> {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/**
 * The packages of the files, each once, sorted by name and version.
 *
 * @param files absolute paths, including files of the project itself
 */
export function bundledPackages(files: readonly string[]): BundledPackage[] {
  const directories = new Set(files.flatMap((path) => packageDirectory(path) ?? []));
  return [...directories].map(read).sort((a, b) => (refOf(a) < refOf(b) ? -1 : 1));
}

/** 'pino@10.4.0' */
export function refOf({ name, version }: Pick<BundledPackage, 'name' | 'version'>): string {
  return `${name}@${version}`;
}

/** The `packages` that the imports of the package resolve to: from the nearest node_modules upwards. */
export function requiredBy(one: BundledPackage, packages: readonly BundledPackage[]): BundledPackage[] {
  const at = new Map(packages.map((each) => [each.directory, each]));
  return one.requires.flatMap((name) => {
    for (let above = one.directory; above !== dirname(above); above = dirname(above)) {
      const found = at.get(join(above, 'node_modules', name));
      if (found !== undefined) return [found];
    }
    return [];
  });
}

/** 'a/node_modules/@x/y' of 'a/node_modules/@x/y/z/index.js'; undefined for a file of the project itself. */
function packageDirectory(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

function read(directory: string): BundledPackage {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license, dependencies, optionalDependencies, peerDependencies } = manifest;
  const requires = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  return { directory, name, version, ...(license !== undefined && { license }), requires };
}
