import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startControlPlane, type ControlPlane } from '../../harness/controlPlane.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { binary } from '../../lab/binaries.ts';

/** What OLM does with the image of a bundle: its Job writes the manifests into one ConfigMap, compressed. */
const BUNDLE = fileURLToPath(new URL('../../../bundle', import.meta.url));
let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

it('the ConfigMap of an unpacked bundle image has each manifest', async () => {
  await kubectl(plane, ['create', 'configmap', 'unpacked']);
  // The command of the Job: pkg/controller/bundle/bundle_unpacker.go.
  const command = ['alpha', 'bundle', 'extract', '-m', `${BUNDLE}/`, '-n', 'default', '-c', 'unpacked', '-z'];
  // opm prefers the variable to its flag.
  const env = { ...process.env, KUBECONFIG: plane.kubeconfig };
  await promisify(execFile)(await binary('opm'), [...command, '-k', plane.kubeconfig], { env });
  const text = await kubectl(plane, ['get', 'configmap/unpacked', '-ojson']);
  const { binaryData = {} } = JSON.parse(text) as V1ConfigMap;
  expect(Object.keys(binaryData).sort()).toEqual((await readdir(join(BUNDLE, 'manifests'))).sort());
});
