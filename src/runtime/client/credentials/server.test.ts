import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { expect, it } from 'vitest';
import { kubeConfigFor } from '../../testing/kubeConfig.ts';
import { serverOf } from './server.ts';

it.each([
  ['https://10.96.0.1:443', { origin: 'https://10.96.0.1', basePath: '' }],
  ['https://[fd00::1]:6443/', { origin: 'https://[fd00::1]:6443', basePath: '' }],
  ['https://gateway/k8s/clusters/c-1', { origin: 'https://gateway', basePath: '/k8s/clusters/c-1' }],
])('%s', (server, expected) => {
  expect(serverOf(kubeConfigFor({ server }))).toEqual(expected);
});

it('names the problem of a kubeconfig', () => {
  expect(() => serverOf(new KubeConfig())).toThrow('no cluster for context');
  expect(() => serverOf(kubeConfigFor({ server: 'ten.dot.zero' }))).toThrow(
    '"ten.dot.zero" is not the URL of a server',
  );
});
