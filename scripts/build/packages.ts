import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package whose files went into a bundle. */
export interface BundledPackage {
  /** Where it is installed: 'node_modules/@x/y', from wherever the bundled files' paths begin. */
  directory: string;
  name: string;
  version: string;
  /** SPDX expression; undefined where the package does not say. */
  license?: string;
  /** Names of the packages that it asks for, optional ones and peers among them. */
  requires: readonly string[];
}

interface Manifest extends Pick<BundledPackage, 'name' | 'version' | 'license'> {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/**
 * The packages that the files come from, in the order of their names and versions, each once.
 *
 * @param files absolute paths, those of the project itself among them
 */
export function bundledPackages(files: readonly string[]): BundledPackage[] {
  const directories = new Set(files.flatMap((path) => packageDirectory(path) ?? []));
  return [...directories].map(read).sort((a, b) => (refOf(a) < refOf(b) ? -1 : 1));
}

/** 'pino@10.4.0' */
export function refOf({ name, version }: Pick<BundledPackage, 'name' | 'version'>): string {
  return `${name}@${version}`;
}

/** Those of `packages` that the package gets when it imports what it asks for: from the nearest node_modules upwards. */
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

/** 'a/node_modules/@x/y' of 'a/node_modules/@x/y/z/index.js'; nothing for a file of the project itself. */
function packageDirectory(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

function read(directory: string): BundledPackage {
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license, dependencies, optionalDependencies, peerDependencies } = manifest;
  const requires = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  return { directory, name, version, ...(license !== undefined && { license }), requires };
}
