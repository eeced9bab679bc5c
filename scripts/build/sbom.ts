import { relative } from 'node:path';
import { type BundledPackage, refOf, requiredBy } from './packages.ts';

/** Input of a bill of materials, in addition to the packages. */
export interface SbomInput {
  /** package.json of the project. */
  project: { name: string; version: string; license: string; dependencies: Record<string, string> };
  packages: readonly BundledPackage[];
  /** package-lock.json, whose keys are directories relative to `root`. */
  lock: { packages: Record<string, { integrity?: string }> };
  root: string;
  /** Version of the Node.js that runs the bundle, without 'v'. */
  node: string;
}

/**
 * The bill of materials of a bundle as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): the bundled packages, and
 * the Node.js that runs them. Like `npm sbom`, but without packages that are not bundled, and without a time and a
 * serial number, so that the same inputs give the same bytes.
 *
 * @throws for a package that is not in the lock file
 */
export function sbom({ project, packages, lock, root, node }: SbomInput): object {
  const direct = packages.filter(({ name }) => name in project.dependencies);
  const edges = packages.map((one): [string, string[]] => [refOf(one), requiredBy(one, packages).map(refOf)]);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { lifecycles: [{ phase: 'build' }], component: { type: 'application', ...identity(project) } },
    components: [
      ...packages.map((one) => ({ type: 'library', ...identity(one), hashes: [hashOf(one, lock, root)] })),
      {
        type: 'platform',
        'bom-ref': `node@${node}`,
        name: 'node',
        version: node,
        cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
        purl: `pkg:generic/node@${node}`,
        licenses: [{ license: { id: 'MIT' } }],
      },
    ],
    dependencies: [[refOf(project), [...direct.map(refOf), `node@${node}`]] as const, ...edges].map(
      ([ref, dependsOn]) => ({ ref, dependsOn: [...new Set(dependsOn)].sort() }),
    ),
  };
}

function identity({ name, version, license }: Pick<BundledPackage, 'name' | 'version' | 'license'>): object {
  return {
    'bom-ref': refOf({ name, version }),
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license !== undefined && {
      licenses: [/^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
    }),
  };
}

/** Subresource integrity uses base64, CycloneDX hexadecimal digits. */
function hashOf(one: BundledPackage, lock: SbomInput['lock'], root: string): object {
  const [, base64] = /^sha512-(.+)$/.exec(lock.packages[relative(root, one.directory)]?.integrity ?? '') ?? [];
  if (base64 === undefined) throw new Error(`package-lock.json has no SHA-512 of ${refOf(one)}`);
  return { alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') };
}
