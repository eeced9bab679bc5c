import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { imageEnvironment } from '../harness/imageEnvironment.ts';
import { type ImageArchive, openArchive, operatorImage } from './archive.ts';

const MEGABYTE = 1_000_000;

/** Runs the image's own command as its own user in its own root file system; resolves to exit code and output. */
function runInImage(image: ImageArchive, args: readonly string[]): Promise<{ code: number; output: string }> {
  const user = image.config.User ?? '';
  const command = ['--userspec', user, image.rootfs, ...(image.config.Entrypoint ?? []), ...args];
  return new Promise((resolve) => {
    execFile('chroot', command, { env: { PATH: process.env.PATH }, timeout: 30_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, output: stdout + stderr });
    });
  });
}

describe('the image', () => {
  let image: ImageArchive;

  beforeAll(async () => {
    image = await openArchive(await operatorImage());
  });
  afterAll(() => image.remove());

  it('is called what the chart asks for', () => {
    expect(image.names).toEqual([`docker.io/library/traffic-operator:${packageJson.version}`]);
  });

  it('adds one layer of less than 5 MB to the base: the bundle, what it is and is made of, and the licences', () => {
    const [, ...own] = image.layers;
    expect(own).toHaveLength(1);
    expect(own[0]!.bytes).toBeLessThan(5 * MEGABYTE);
    const paths = own[0]!.files.map(({ path }) => path).filter((path) => !path.endsWith('/'));
    const isChunk = (path: string): boolean => /^app\/chunks\/[A-Za-z0-9-]+-[A-Z0-9]{8}\.js$/.test(path);
    expect(paths.filter(isChunk).length).toBeGreaterThan(1);
    expect(paths.filter((path) => !isChunk(path))).toEqual([
      'app/LICENSE',
      'app/THIRD_PARTY_LICENSES',
      'app/main.js',
      'app/package.json',
      'app/sbom.cdx.json',
    ]);
  });

  it('belongs to root and can be written by nobody else', () => {
    for (const { mode, owner, path } of image.layers[1]!.files) {
      expect(`${path} ${owner} ${mode}`).toMatch(/ 0\/0 [d-]r[w-][x-]r-[x-]r-[x-]$/);
    }
  });

  it('runs the bundle by Node as a user that is not root, given by number', () => {
    expect(image.config).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['/nodejs/bin/node', '/app/main.js'],
      Cmd: ['manager'],
      WorkingDir: '/app',
    });
    // What the benchmark runs the bundle with.
    const environment = Object.entries(imageEnvironment()).map((pair) => pair.join('='));
    expect(environment).toContain('MALLOC_ARENA_MAX=1');
    expect(image.config.Env).toEqual(expect.arrayContaining(environment));
  });

  it('holds neither npm nor what was lent to the build', () => {
    const paths = image.layers.flatMap((layer) => layer.files.map((file) => file.path));
    expect(paths.filter((path) => /node_modules|npm|run\/secrets|\.crt$/.test(path))).toEqual([
      './etc/ssl/certs/ca-certificates.crt', // of the base image
    ]);
  });

  it('starts: a wrong flag is one line and exit code 2', async () => {
    const { code, output } = await runInImage(image, ['manager', '--no-such-flag']);
    expect([code, output.trim().split('\n')]).toEqual([2, [expect.stringContaining('--no-such-flag')]]);
  });

  it('carries the bill of its materials, the Node in it among them', async () => {
    const { components } = JSON.parse(await readFile(join(image.rootfs, 'app/sbom.cdx.json'), 'utf8')) as {
      components: { name: string; version: string }[];
    };
    const [node = ''] = image.config.Entrypoint ?? [];
    const { stdout } = await promisify(execFile)('chroot', [image.rootfs, node, '--version']);
    expect(components).toContainEqual(expect.objectContaining({ name: 'node', version: stdout.trim().slice(1) }));
    for (const name of Object.keys(packageJson.dependencies)) {
      expect(components).toContainEqual(expect.objectContaining({ name }));
    }
  });

  it('carries the licences of what is bundled', async () => {
    const licenses = await readFile(join(image.rootfs, 'app/THIRD_PARTY_LICENSES'), 'utf8');
    for (const name of ['@kubernetes/client-node', 'axios', 'pino', 'prom-client', 'rxjs', 'undici', 'zod']) {
      expect(licenses.includes(`\n${name} `), name).toBe(true);
    }
  });
});
