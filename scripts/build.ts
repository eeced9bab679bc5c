/**
 * Bundles the operator and all it needs into dist/: main.js, and a file for what each command alone needs, so that neither
 * npm nor node_modules are needed at run time and a process reads the code of one command.
 *
 *   node scripts/build.ts
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { thirdPartyLicenses } from './build/licenses.ts';
import { bundledPackages } from './build/packages.ts';
import { sbom, type SbomInput } from './build/sbom.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** CommonJS packages reach Node's own modules by `require`, which an ES module does not have. */
const BANNER =
  "import { createRequire as $createRequire } from 'node:module';\nconst require = $createRequire(import.meta.url);";

/**
 * Writes main.js and its chunks, a package.json that says what they are, the licences of what is in it, and a bill of materials with
 * the Node that runs this program, which is to be the one that runs main.js.
 * Throws when a module cannot be resolved or has errors.
 */
export async function bundle(entry: string, outdir: string): Promise<void> {
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: { main: entry },
    outdir,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Smaller by a third, while stack traces still have the names of the source, but for a digit where two modules have
    // the same, and a line before a class that speaks of itself; to keep even those (keepNames), each function would be
    // given its name whenever it is made. Lines stay short enough for the place in a trace to be found. A source map
    // would cost 100 MB of memory with the first stack trace.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    legalComments: 'none',
    banner: { js: BANNER },
    metafile: true,
    logLevel: 'warning',
  });
  mkdirSync(outdir, { recursive: true });
  const project = readJson('package.json') as SbomInput['project'];
  const { name, version, license } = project;
  const packages = bundledPackages(Object.keys(metafile.inputs).map((path) => join(ROOT, path)));
  const lock = readJson('package-lock.json') as SbomInput['lock'];
  const materials = sbom({ project, packages, lock, root: ROOT, node: process.versions.node });
  writeFileSync(join(outdir, 'package.json'), `${JSON.stringify({ name, version, license, type: 'module' })}\n`);
  writeFileSync(join(outdir, 'THIRD_PARTY_LICENSES'), `${thirdPartyLicenses(packages)}\n`);
  writeFileSync(join(outdir, 'sbom.cdx.json'), `${JSON.stringify(materials, null, 2)}\n`);
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

if (import.meta.main) await bundle(join(ROOT, 'src/main.ts'), join(ROOT, 'dist'));
