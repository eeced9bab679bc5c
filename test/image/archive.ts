import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BUILD = fileURLToPath(new URL('build.sh', import.meta.url));

/** A layer of an image: its size in bytes and what is in it, as `tar -tv` prints it without times. */
export interface Layer {
  bytes: number;
  files: readonly { mode: string; owner: string; path: string; bytes: number }[];
}

/** The manifest of a docker archive for the one image in it. */
export interface ImageArchive {
  names: readonly string[];
  config: { User?: string; Entrypoint?: string[]; Cmd?: string[]; WorkingDir?: string; Env?: string[] };
  /** From the base image upwards. */
  layers: readonly Layer[];
  /** Directory with the layers' root file system put together. */
  rootfs: string;
  remove(): Promise<void>;
}

/** Path of a docker archive with the operator's image, built now if it is not in the cache. */
export async function operatorImage(): Promise<string> {
  const { stdout } = await run(BUILD, { maxBuffer: 1 << 24 });
  return stdout.trim();
}

/** Unpacks a docker archive (manifest.json, a configuration, a tar file a layer). */
export async function openArchive(path: string): Promise<ImageArchive> {
  const directory = await mkdtemp(join(tmpdir(), 'image-'));
  const rootfs = join(directory, 'rootfs');
  await run('mkdir', [rootfs]);
  await run('tar', ['-xf', path, '-C', directory]);
  const [manifest] = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as [
    { Config: string; RepoTags: string[]; Layers: string[] },
  ];
  const { config } = JSON.parse(await readFile(join(directory, manifest.Config), 'utf8')) as Pick<
    ImageArchive,
    'config'
  >;
  const layers: Layer[] = [];
  for (const name of manifest.Layers) {
    layers.push(await layer(join(directory, name)));
    await run('tar', ['-xpf', join(directory, name), '-C', rootfs]);
  }
  return { names: manifest.RepoTags, config, layers, rootfs, remove: () => rm(directory, { recursive: true }) };
}

async function layer(path: string): Promise<Layer> {
  const { stdout } = await run('tar', ['-tvf', path, '--numeric-owner', '--full-time'], { maxBuffer: 1 << 24 });
  const files = stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [mode = '', owner = '', bytes = '', , , name = ''] = line.split(/\s+/);
      return { mode, owner, path: name, bytes: Number(bytes) };
    });
  return { bytes: (await stat(path)).size, files };
}
